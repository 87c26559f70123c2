package local

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

var (
	services        = []string{"git-upload-pack", "git-receive-pack"}
	protocolPattern = regexp.MustCompile(`^version=[0-9]$`)
)

// gitHTTP speaks git's smart HTTP protocol by running the two services of git
// directly; the body goes to them as it arrives, so a push may be chunked and
// of any length.
func (f *Forge) gitHTTP() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{owner}/{repo}/info/refs", func(w http.ResponseWriter, r *http.Request) {
		f.exchange(w, r, r.URL.Query().Get("service"), true)
	})
	for _, service := range services {
		mux.HandleFunc("POST /{owner}/{repo}/"+service, func(w http.ResponseWriter, r *http.Request) {
			f.exchange(w, r, service, false)
		})
	}
	return mux
}

func (f *Forge) exchange(w http.ResponseWriter, r *http.Request, service string, advertise bool) {
	if !slices.Contains(services, service) {
		http.Error(w, "only the smart protocol is spoken here", http.StatusForbidden)
		return
	}
	repo, actor, ok := f.admitGit(w, r, service)
	if !ok {
		return
	}
	body := io.Reader(http.NoBody)
	if !advertise {
		body = http.MaxBytesReader(w, r.Body, maxPush)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(body)
			if err != nil {
				http.Error(w, "the body is not gzip", http.StatusBadRequest)
				return
			}
			body = unpacked
		}
	}
	asked := &moves{}
	if service == "git-receive-pack" {
		body = io.TeeReader(body, asked)
	}
	args := []string{strings.TrimPrefix(service, "git-"), "--stateless-rpc"}
	kind := "result"
	if advertise {
		args, kind = append(args, "--http-backend-info-refs"), "advertisement"
	}
	g := f.git(repo)
	version := r.Header.Get("Git-Protocol")
	if protocolPattern.MatchString(version) {
		g = g.WithEnv("GIT_PROTOCOL=" + version)
	}
	// git answers while it still reads; where that cannot be had it waits.
	_ = http.NewResponseController(w).EnableFullDuplex()
	w.Header().Set("Content-Type", fmt.Sprintf("application/x-%s-%s", service, kind))
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	if advertise && version != "version=2" {
		greeting := "# service=" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(greeting)+4, greeting)
	}
	err := g.Stream(r.Context(), body, &flushing{w}, append(args, "--", ".")...)
	if service == "git-receive-pack" && !advertise {
		// The push is not over for its client before the pull requests know of it; and
		// what git did is done, although the client left.
		ctx := context.WithoutCancel(r.Context())
		err = errors.Join(err, f.pushed(ctx, repo, actor, asked.all), f.follow(ctx, repo, actor))
	}
	if err != nil {
		f.config.Logger.Warn("git exchange failed", "repository", repo, "service", service, "error", err)
		if git.ExitCode(err) < 0 {
			panic(http.ErrAbortHandler) // git did not end by itself: its answer must not look whole
		}
	}
}

// pushed notes when the repository was last pushed to, and which branches were
// moved by whom.
func (f *Forge) pushed(ctx context.Context, name string, actor int64, asked []push) error {
	made, err := f.done(ctx, name, asked)
	if err != nil {
		return err
	}
	return f.change(func(t *tx) error {
		r, _ := t.state.repo(name)
		r.repository.Pushed = t.now
		t.put(entry{Repo: name, Repository: &r.repository})
		for _, p := range made {
			if r.at(p.Ref) == p.After {
				continue // of two that asked for the same, git made one
			}
			p.Actor = actor
			t.moved(name, p)
		}
		return nil
	})
}

// admitGit finds the repository and lets in who may read or push.
func (f *Forge) admitGit(w http.ResponseWriter, r *http.Request, service string) (repo string, actor int64, ok bool) {
	refuse := func(status int, message string) (string, int64, bool) {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="local forge"`)
		}
		http.Error(w, message, status)
		return "", 0, false
	}
	name := r.PathValue("owner") + "/" + strings.TrimSuffix(r.PathValue("repo"), ".git")
	user, err := f.authenticate(r)
	if err != nil {
		return refuse(http.StatusUnauthorized, "the token is not known")
	}
	needed := read
	if service == "git-receive-pack" {
		needed = write
	}
	found, exists := f.state.Load().repo(name)
	level := f.permission(user.Login, name)
	switch {
	case user.ID == 0 && (!exists || level < needed):
		return refuse(http.StatusUnauthorized, "sign in with a token as the password")
	case !exists || level < read:
		return refuse(http.StatusNotFound, "repository not found")
	case level < needed:
		return refuse(http.StatusForbidden, fmt.Sprintf("permission to %s denied to %s", name, user.Login))
	}
	return found.fullName(), user.ID, true
}

// flushing sends everything at once: git's progress is for people.
type flushing struct{ w http.ResponseWriter }

func (f *flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		// What cannot flush sends at the end.
		_ = http.NewResponseController(f.w).Flush()
	}
	return n, err
}
