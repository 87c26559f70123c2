package allinone_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// runForge runs a system with one repository until main returns.
func runForge(t *testing.T, c allinone.Config, main func(*allinone.System)) error {
	t.Helper()
	g := gittest.Repo(t)
	write(t, filepath.Join(g.Dir(), "greeting"), "hello\n")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	c.Workflow, c.Login, c.Log = "issue", "ann", slog.New(slog.DiscardHandler)
	if c.Dir == "" {
		c.Dir = filepath.Join(t.TempDir(), "data")
	}
	c.Agents, c.Repos = role.Settings{Sandbox: "none"}, map[string]allinone.Source{widgets: {Dir: g.Dir()}}
	c.Main = func(context.Context, *allinone.System) error { return nil }
	if main != nil {
		c.Main = func(_ context.Context, s *allinone.System) error { main(s); return nil }
	}
	return allinone.Run(t.Context(), c)
}

// get sends a request to the forge, to a host by another name if there is one.
func get(t *testing.T, url, host, token string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	if token != "" {
		r.SetBasicAuth("ann", token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func TestTheLocalForgeIsReadWithATokenUnlessItIsOpened(t *testing.T) {
	for name, c := range map[string]struct {
		open      bool
		anonymous int
	}{"by default": {false, http.StatusUnauthorized}, "opened": {true, http.StatusOK}} {
		t.Run(name, func(t *testing.T) {
			err := runForge(t, allinone.Config{Open: c.open}, func(s *allinone.System) {
				page := s.Forge.URL + "/" + widgets
				for _, url := range []string{page, page + ".git/info/refs?service=git-upload-pack"} {
					if status, _ := get(t, url, "", ""); status != c.anonymous {
						t.Errorf("nobody reads %s: %d, want %d", url, status, c.anonymous)
					}
					if status, body := get(t, url, "", s.Forge.Secret); status != http.StatusOK {
						t.Errorf("the person reads %s: %d %s", url, status, body)
					}
					if status, body := get(t, url, "evil.example.test", s.Forge.Secret); status != http.StatusMisdirectedRequest {
						t.Errorf("%s under another name: %d %s", url, status, body)
					}
				}
				if text, err := os.ReadFile(s.Forge.Token); err != nil || strings.TrimSpace(string(text)) != s.Forge.Secret {
					t.Errorf("the token is not in %s: %v", s.Forge.Token, err)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheLocalForgeLeavesTheMachineOnlyIfThatIsSaid(t *testing.T) {
	err := runForge(t, allinone.Config{Web: "0.0.0.0:0"}, nil)
	if err == nil || !strings.Contains(err.Error(), "--web-plain") {
		t.Errorf("it ended with %v", err)
	}
	if err := runForge(t, allinone.Config{Web: "0.0.0.0:0", Plain: true}, nil); err != nil {
		t.Error(err)
	}
}

func TestNobodyElseReadsWhatLasts(t *testing.T) {
	var data string
	err := runForge(t, allinone.Config{Listen: "127.0.0.1:0", Flags: service.Flags{HTTP: "127.0.0.1:0"}}, func(s *allinone.System) {
		data = filepath.Dir(filepath.Dir(s.Forge.Token))
		private(t, data)
		private(t, filepath.Dir(s.Login))
	})
	if err != nil {
		t.Fatal(err)
	}
	private(t, data)
}

// private holds that only the owner reaches what is below dir.
func private(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) && name != dir {
			return nil // it is gone
		}
		if err != nil {
			return err
		}
		n++
		if strings.HasSuffix(name, ".git") {
			return fs.SkipDir // git's own modes, behind a directory of the owner's
		}
		if mode := info.Mode().Perm(); info.Mode()&fs.ModeSymlink == 0 && mode&0o077 != 0 {
			t.Errorf("%s may be used by others: %v", strings.TrimPrefix(name, dir), info.Mode())
		}
		return nil
	})
	if err != nil || n < 2 {
		t.Errorf("%d files below %s: %v", n, dir, err)
	}
}
