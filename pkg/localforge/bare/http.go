package bare

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
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
	protocolPattern = lazyregexp.New(`^version=[0-9]$`)
)

// Handler returns a handler of git's smart HTTP protocol at /owner/name.git. It runs
// the two services of git and streams the body to them, so a push may be chunked and
// of any length.
func (r *Repos) Handler(gate Gate, limits Limits, log *slog.Logger) http.Handler {
	s := server{repos: r, gate: gate, limits: limits, slots: make(slots, limits.Processes), log: log}
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
	repos  *Repos
	gate   Gate
	limits Limits
	slots  slots
	log    *slog.Logger
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
	client := &connection{w: w, body: http.MaxBytesReader(w, r.Body, maxPush), idle: s.limits.Idle}
	body, err := begun(client, r.Header.Get("Content-Encoding") == "gzip")
	if err != nil {
		w.Header().Set("Connection", "close")
		http.Error(w, "the body does not begin, or is not gzip", http.StatusBadRequest)
		return
	}
	free, err := s.slots.take(r.Context(), s.limits.Wait)
	if err != nil {
		w.Header().Set("Retry-After", "10")
		w.Header().Set("Connection", "close") // the rest of the body is not waited for
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer free()
	wanted := &pushReader{}
	if push {
		body = io.TeeReader(body, wanted)
	}
	repo := s.repos.Repo(name)
	if advertise && !push && r.Header.Get("Git-Protocol") == version2 {
		err = repo.offer(client, r)
	} else {
		err = stream(client, r, repo.Runner, service, advertise, body)
	}
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

// begun returns the body of a request once there is a beginning of it: no process of git
// waits for a client that sends nothing.
func begun(c *connection, zipped bool) (io.Reader, error) {
	body := bufio.NewReader(c)
	// git answers while it still reads. Without full duplex it waits.
	_ = http.NewResponseController(c.w).EnableFullDuplex()
	if _, err := body.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if zipped {
		return gzip.NewReader(body)
	}
	return body, nil
}

// version2 is the protocol in which git offers its capabilities, and no refs, to a client that reads.
const version2 = "version=2"

// offer answers with the capabilities of git. They are those of the program and of the settings that all
// repositories have, so it runs git once.
func (r Repo) offer(c *connection, request *http.Request) error {
	offered, ok := r.repos.outputs.get(version2)
	if !ok {
		out, err := r.WithEnv("GIT_PROTOCOL="+version2).Output(request.Context(), maxOutput, "upload-pack", "--stateless-rpc", "--http-backend-info-refs", "--", ".")
		if err != nil {
			return err
		}
		offered = string(out)
		r.repos.outputs.put(version2, offered)
	}
	head(c.w, "git-upload-pack", "advertisement")
	_, err := io.WriteString(c, offered)
	return err
}

// head writes the head of an answer.
func head(w http.ResponseWriter, service, kind string) {
	w.Header().Set("Content-Type", fmt.Sprintf("application/x-%s-%s", service, kind))
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
}

// stream runs the git service on the body and writes its output as the answer.
func stream(c *connection, r *http.Request, g git.Runner, service string, advertise bool, body io.Reader) error {
	w := c.w
	args, kind := []string{strings.TrimPrefix(service, "git-"), "--stateless-rpc"}, "result"
	if advertise {
		args, kind = append(args, "--http-backend-info-refs"), "advertisement"
	}
	version := r.Header.Get("Git-Protocol")
	if protocolPattern.MatchString(version) {
		g = g.WithEnv("GIT_PROTOCOL=" + version)
	}
	head(w, service, kind)
	if advertise && version != version2 {
		greeting := "# service=" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(greeting)+4, greeting)
	}
	return g.Stream(r.Context(), body, c, append(args, "--", ".")...)
}
