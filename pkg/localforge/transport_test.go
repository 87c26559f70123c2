package localforge_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestPushOfFiveMebibytesArrives(t *testing.T) {
	w := newEnv(t)
	work := w.clone(t, robToken)
	big := make([]byte, 5<<20) // incompressible and above http.postBuffer, so it is sent in chunks
	_, err := rand.Read(big)
	must(t, err)
	sha := StoreXPush(t, work, "big", "big.bin", string(big))
	fresh := w.clone(t, adaToken, "--branch", "big")
	got, err := os.ReadFile(filepath.Join(fresh.Dir(), "big.bin"))
	must(t, err)
	if gittest.Run(t, fresh, "rev-parse", "HEAD") != sha || string(got) != string(big) {
		t.Error("the clone has something else")
	}
}

func TestCloneInEveryProtocolAndDepth(t *testing.T) {
	w := newEnv(t)
	work := w.clone(t, robToken)
	StoreXPush(t, work, "main", "a.txt", "a\n")
	for _, version := range []string{"0", "1", "2"} {
		for _, args := range [][]string{{}, {"--depth=1"}, {"--filter=blob:none"}, {"--bare"}, {"--mirror"}} {
			t.Run("version "+version+" "+strings.Join(args, " "), func(t *testing.T) {
				g := git.New(t.TempDir()).WithToken(w.url, maxToken).WithConfig("protocol.version", version)
				gittest.Run(t, g, append(append([]string{"clone", "-q"}, args...), w.url+"/"+full+".git", ".")...)
				if got := gittest.Run(t, g, "log", "-1", "--format=%s", "main"); got != "Write a.txt" {
					t.Errorf("main is at %q", got)
				}
			})
		}
	}
}

func TestFetchOfAWaitingHistory(t *testing.T) {
	w := newEnv(t)
	work, other := w.clone(t, robToken), w.clone(t, adaToken)
	for _, file := range []string{"a", "b", "c"} {
		StoreXPush(t, work, "main", file, file)
	}
	gittest.Run(t, other, "fetch", "-q", "origin")
	if got := gittest.Run(t, other, "rev-list", "--count", "origin/main"); got != "4" {
		t.Errorf("fetched %s commits", got)
	}
}

func TestCommitThatIsNotThereIsToldByGit(t *testing.T) {
	w := newEnv(t)
	_, err := w.clone(t, maxToken).Run(t.Context(), "fetch", "-q", "origin", strings.Repeat("1", 40))
	if err == nil || !strings.Contains(err.Error(), "not our ref") {
		t.Errorf("err = %v", err)
	}
}

func TestWhoMayNotIsRefusedByGit(t *testing.T) {
	w := newEnv(t)
	work := w.clone(t, adaToken)
	gittest.Run(t, work, "commit", "-q", "--allow-empty", "-m", "x")
	for _, tc := range []struct{ who, token, want string }{
		{"nobody", "", "could not read Username"},
		{"a wrong token", "wrong", "could not read Username"},
		{"a reader", maxToken, "403"},
		{"a person without permission", "eve-token", "not found"},
	} {
		t.Run(tc.who, func(t *testing.T) {
			g := git.New(work.Dir())
			if tc.token != "" {
				g = g.WithToken(w.url, tc.token)
			}
			_, err := g.Run(t.Context(), "push", "-q", "origin", "HEAD:refs/heads/x")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
	t.Run("the token may be the password of any user", func(t *testing.T) {
		url := strings.Replace(w.url, "://", "://whoever:"+robToken+"@", 1)
		gittest.Run(t, git.New(work.Dir()), "push", "-q", url+"/"+full+".git", "HEAD:refs/heads/x")
	})
	t.Run("refs of pull requests are the forge's", func(t *testing.T) {
		_, err := work.Run(t.Context(), "push", "-q", "origin", "HEAD:refs/pull/1/head")
		if err == nil || !strings.Contains(err.Error(), "hidden ref") {
			t.Errorf("err = %v", err)
		}
	})
}

func TestPublicRepositoryIsReadByAnyone(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.Public = true })
	g := git.New(t.TempDir())
	gittest.Run(t, g, "clone", "-q", w.url+"/"+full+".git", ".")
	if _, err := g.WithIdentity("x", "x@example.test").Run(t.Context(), "push", "-q", "origin", "HEAD:refs/heads/x"); err == nil {
		t.Error("anyone could push")
	}
	if resp, body := w.ask(t, "GET", "/api/v3/repos/acme/widgets", "", ""); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"private":false`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, _ := w.ask(t, "POST", "/api/v3/repos/acme/widgets/issues", "", `{"title":"x"}`); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("an issue by nobody: %d", resp.StatusCode)
	}
}

func TestPathsOutsideTheRepositoriesAreNotFound(t *testing.T) {
	w := newEnv(t)
	for _, path := range []string{
		"/acme/widgets.git/objects/info/packs", "/acme/widgets.git/HEAD", "/acme/widgets.git/config",
		"/acme/..%2f..%2fjournal/info/refs?service=git-upload-pack", "/%2e%2e/%2e%2e/info/refs?service=git-upload-pack",
		"/acme/widgets.git/info/refs", "/acme/widgets.git/info/refs?service=git-shell",
	} {
		if resp, body := w.ask(t, "GET", path, adaToken, ""); resp.StatusCode < 400 {
			t.Errorf("%s: %d %q", path, resp.StatusCode, body)
		}
	}
}

func TestRepositoriesFromWhatThereIs(t *testing.T) {
	w := newEnv(t)
	t.Run("an empty one takes a first push", func(t *testing.T) {
		must(t, w.CreateRepo(t.Context(), "acme/empty", ""))
		g := git.New(source(t)).WithToken(w.url, adaToken)
		gittest.Run(t, g, "push", "-q", w.url+"/acme/empty.git", "main")
		if resp, body := w.ask(t, "GET", "/repos/acme/empty/branches/main", adaToken, ""); resp.StatusCode != http.StatusOK {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	})
	t.Run("branches, tags and the checked out branch come along", func(t *testing.T) {
		g := git.New(source(t)).WithIdentity("x", "x@example.test")
		gittest.Run(t, g, "tag", "v1")
		gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
		must(t, w.CreateRepo(t.Context(), "acme/trunk", g.Dir()))
		out := gittest.Run(t, git.New("").WithToken(w.url, adaToken), "ls-remote", "--symref", w.url+"/acme/trunk.git")
		for _, want := range []string{"ref: refs/heads/trunk\tHEAD", "refs/heads/main", "refs/heads/trunk", "refs/tags/v1"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s is not in\n%s", want, out)
			}
		}
	})
	t.Run("a branch that shares its name with a tag is the default branch", func(t *testing.T) {
		g := git.New(source(t)).WithIdentity("x", "x@example.test")
		gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
		gittest.Run(t, g, "tag", "trunk")
		must(t, w.CreateRepo(t.Context(), "acme/tagged", g.Dir()))
		if _, body := w.ask(t, "GET", "/repos/acme/tagged", adaToken, ""); !strings.Contains(body, `"default_branch":"trunk"`) {
			t.Errorf("repository = %s", body)
		}
	})
	t.Run("a detached HEAD leaves main", func(t *testing.T) {
		g := git.New(source(t))
		gittest.Run(t, g, "checkout", "-q", "--detach")
		must(t, w.CreateRepo(t.Context(), "acme/detached", g.Dir()))
		if _, body := w.ask(t, "GET", "/repos/acme/detached", adaToken, ""); !strings.Contains(body, `"default_branch":"main"`) {
			t.Errorf("repository = %s", body)
		}
	})
	t.Run("what is no repository is refused", func(t *testing.T) {
		if err := w.CreateRepo(t.Context(), "acme/none", t.TempDir()); err == nil {
			t.Error("it was taken")
		}
	})
}
