package bare

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Gate admits users to read and push over HTTP, and is notified of pushes.
type Gate interface {
	// Admit returns the account that sent the request and the repository's full name. If
	// it refuses, it answers the request and returns false.
	Admit(w http.ResponseWriter, r *http.Request, name string, push bool) (repo string, actor int64, ok bool)
	// Pushed is called after each push, with the branches that it moved.
	Pushed(ctx context.Context, repo string, actor int64, moves []Move) error
}

var (
	services        = []string{"git-upload-pack", "git-receive-pack"}
	protocolPattern = regexp.MustCompile(`^version=[0-9]$`)
)

// Handler returns a handler of git's smart HTTP protocol at /owner/name.git. It runs
// the two services of git and streams the body to them, so a push may be chunked and
// of any length.
func (r *Repos) Handler(gate Gate, log *slog.Logger) http.Handler {
	s := server{repos: r, gate: gate, log: log}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{owner}/{repo}/info/refs", func(w http.ResponseWriter, r *http.Request) {
		s.exchange(w, r, r.URL.Query().Get("service"), true)
	})
	for _, service := range services {
		mux.HandleFunc("POST /{owner}/{repo}/"+service, func(w http.ResponseWriter, r *http.Request) {
			s.exchange(w, r, service, false)
		})
	}
	return mux
}

type server struct {
	repos *Repos
	gate  Gate
	log   *slog.Logger
}

func (s server) exchange(w http.ResponseWriter, r *http.Request, service string, advertise bool) {
	if !slices.Contains(services, service) {
		http.Error(w, "only the smart protocol is spoken here", http.StatusForbidden)
		return
	}
	push := service == "git-receive-pack"
	name, actor, ok := s.gate.Admit(w, r, r.PathValue("owner")+"/"+strings.TrimSuffix(r.PathValue("repo"), ".git"), push)
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
	wanted := &pushReader{}
	if push {
		body = io.TeeReader(body, wanted)
	}
	repo := s.repos.Repo(name)
	err := stream(w, r, repo.Runner, service, advertise, body)
	if push && !advertise {
		// The push must not end for its client before pull requests follow it. Git has
		// made the moves even if the client has gone.
		ctx := context.WithoutCancel(r.Context())
		moves, failed := repo.made(ctx, wanted.moves)
		err = errors.Join(err, failed, s.gate.Pushed(ctx, name, actor, moves))
	}
	if err != nil {
		s.log.Warn("git exchange failed", "repository", name, "service", service, "error", err)
		if git.ExitCode(err) < 0 {
			panic(http.ErrAbortHandler) // git was killed: its answer must not look complete
		}
	}
}

// stream runs the git service on the body and writes its output as the answer.
func stream(w http.ResponseWriter, r *http.Request, g git.Runner, service string, advertise bool, body io.Reader) error {
	args, kind := []string{strings.TrimPrefix(service, "git-"), "--stateless-rpc"}, "result"
	if advertise {
		args, kind = append(args, "--http-backend-info-refs"), "advertisement"
	}
	version := r.Header.Get("Git-Protocol")
	if protocolPattern.MatchString(version) {
		g = g.WithEnv("GIT_PROTOCOL=" + version)
	}
	// git answers while it still reads. Without full duplex it waits.
	_ = http.NewResponseController(w).EnableFullDuplex()
	w.Header().Set("Content-Type", fmt.Sprintf("application/x-%s-%s", service, kind))
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	if advertise && version != "version=2" {
		greeting := "# service=" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(greeting)+4, greeting)
	}
	return g.Stream(r.Context(), body, &flushing{w}, append(args, "--", ".")...)
}

// flushing sends each write at once: git's progress is for people.
type flushing struct{ w http.ResponseWriter }

// Write implements io.Writer.
func (f *flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		// A writer that cannot flush sends at the end.
		_ = http.NewResponseController(f.w).Flush()
	}
	return n, err
}
