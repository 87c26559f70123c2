package allinone_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
	gateway "github.com/signalbox/signalbox/services/gateway/app"
	pm "github.com/signalbox/signalbox/services/pm/app"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// The tokens of the services and of ann, who may write.
const (
	botToken = "bot-token"
	annToken = "ann-token"
)

// completeReport is an issue that leaves no question.
const completeReport = "The answer is wrong.\n\n### Steps to reproduce\nRun `cat answer.txt`.\n\n### Expected\nIt prints 42.\n\n" +
	"### Actual\nIt prints 41.\n\n### Scope\nThe file answer.txt.\n"

// mergeConfig configures a mergeEnv.
type mergeConfig struct {
	forge func(*localforge.Config)
	every time.Duration // the gateway's polling interval
	check time.Duration // how often the shepherd looks
	pace  time.Duration
	limit time.Duration // of the whole test
	hooks bool          // the forge delivers webhooks, too
	see   func(*http.Request, int)
}

// mergeEnv is a system whose issues go on to the merge, and the forge that it works with,
// which the test serves.
type mergeEnv struct {
	*testing.T
	ctx         context.Context
	client      *client.Client
	forge       *localforge.Forge
	url         string
	definitions []*workflow.Definition

	mu      sync.Mutex
	entries []effectcheck.Entry
	ended   map[string]string // final states, by instance
	moved   chan struct{}     // closed by the next commit
}

// status notes the status of an answer.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func (s *status) Flush() { s.ResponseWriter.(http.Flusher).Flush() }

// withMerge runs test in a mergeEnv.
func withMerge(t *testing.T, c mergeConfig, test func(*mergeEnv)) {
	t.Helper()
	dir, g := t.TempDir(), gittest.Repo(t)
	for name, text := range map[string]string{
		".signalbox.yaml": "test: {command: sh check.sh}\n", "answer.txt": "41\n",
		"check.sh": "grep -qx 42 answer.txt || { echo \"the answer is $(cat answer.txt), want 42\"; exit 1; }\n",
	} {
		write(t, filepath.Join(g.Dir(), name), text)
	}
	gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	write(t, filepath.Join(dir, "developer.sh"), "echo 42 > answer.txt\necho 'the answer is 42'\n")
	write(t, filepath.Join(dir, "issue.yaml"), "workflow: issue\nversion: 2\nextends: issue\npolicy: {hand_over: true}\n")
	write(t, filepath.Join(dir, "story.yaml"), fmt.Sprintf("workflow: story\nversion: 2\nextends: story\npolicy: {check_every: %s}\n", c.check))
	m := &mergeEnv{T: t, ended: map[string]string{}, moved: make(chan struct{})}
	var err error
	if m.definitions, err = allinone.Definitions(dir); err != nil {
		t.Fatal(err)
	}
	config := localforge.Config{Dir: t.TempDir(), Users: []localforge.User{
		{Login: "signalbox", Token: botToken, Type: "Bot", Permission: "write"}, {Login: "ann", Token: annToken, Permission: "admin"}}}
	if c.forge != nil {
		c.forge(&config)
	}
	if m.forge, err = localforge.Open(config); err != nil {
		t.Fatal(err)
	}
	served := m.forge.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &status{w, http.StatusOK}
		defer func() {
			if c.see != nil && strings.Contains(r.Header.Get("Authorization"), botToken) {
				c.see(r, s.code)
			}
		}()
		served.ServeHTTP(s, r)
	}))
	defer func() { server.Close(); _ = m.forge.Close() }()
	m.forge.SetURL(server.URL)
	m.url = server.URL
	if err := m.forge.CreateRepo(t.Context(), widgets, g.Dir()); err != nil {
		t.Fatal(err)
	}
	var webhook gateway.Webhook
	if c.hooks {
		webhook = gateway.Webhook{Addr: porttest.Address(t), Secret: "s3cret"}
		m.forge.SetWebhook("http://"+webhook.Addr+"/", webhook.Secret)
	}
	var log bytes.Buffer
	err = allinone.Run(t.Context(), allinone.Config{
		Dir: filepath.Join(dir, "data"), Sync: 100 * time.Millisecond, Workflow: "issue", Dirs: dir, Every: c.every, All: true, Webhook: webhook,
		Forge: github.Flags{URL: server.URL + "/api/v3/", Token: botToken, Pace: c.pace}, Watch: []string{widgets},
		Log:    slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Flags:  service.Flags{Grace: 20 * time.Second},
		Agents: role.Settings{Sandbox: "none", Workers: 1, Wall: time.Minute, Idle: time.Minute, Brain: []string{"developer=exec:sh " + filepath.Join(dir, "developer.sh")}},
		Status: pm.Status{Comment: true, Rest: 30 * time.Second}, Commands: gateway.Commands{Command: "signalbox"},
		Main: func(ctx context.Context, s *allinone.System) error {
			ctx, cancel := context.WithTimeout(ctx, c.limit)
			defer cancel()
			m.ctx, m.client = ctx, client.New(s.NATS, "operator:ann")
			var following sync.WaitGroup
			following.Go(func() { _ = m.client.Watch(ctx, "", 0, m.note) }) // until the test ends
			test(m)
			cancel()
			following.Wait()
			return nil
		},
	})
	if err != nil || t.Failed() {
		t.Errorf("the system ended with %v\n%s", err, log.String())
	}
}

// note takes in a commit.
func (m *mergeEnv) note(e client.LogEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, effectcheck.Entry{Commit: e.Commit, Instance: e.Instance})
	for _, event := range e.Events {
		if moved, ok := event.(instance.Moved); ok && moved.Kind == workflow.Final {
			m.ended[e.Instance] = moved.To
		}
	}
	close(m.moved)
	m.moved = make(chan struct{})
	return nil
}

// await waits until wanted returns true of what is noted. It reports whether it did.
func (m *mergeEnv) await(what string, wanted func() bool) bool {
	m.Helper()
	for {
		m.mu.Lock()
		ok, moved := wanted(), m.moved
		m.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-moved:
		case <-m.ctx.Done():
			m.mu.Lock()
			defer m.mu.Unlock()
			text := ""
			for _, e := range m.entries {
				text += fmt.Sprintf("  %s %s %s:", e.At.Format("15:04:05.000"), e.Instance, e.Actor)
				for _, event := range e.Events {
					text += fmt.Sprintf(" %.200s", fmt.Sprintf("%T%+v", event, event))
				}
				text += "\n"
			}
			m.Errorf("%s does not come\n%s", what, text)
			return false
		}
	}
}

// ask sends one request as ann.
func (m *mergeEnv) ask(method, path string, body, into any) {
	m.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		m.Fatal(err)
	}
	r, err := http.NewRequestWithContext(m.ctx, method, m.url+"/api/v3/repos/"+widgets+path, bytes.NewReader(data))
	if err != nil {
		m.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+annToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		m.Error(err)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		m.Errorf("%s %s: %s %s, %v", method, path, answer.Status, text, err)
		return
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			m.Error(err)
		}
	}
}

// merge reports an issue, approves its pull request, and waits until that is merged. It
// returns whether it was.
func (m *mergeEnv) merge() bool {
	m.Helper()
	m.ask("POST", "/issues", map[string]any{"title": "The answer is wrong", "body": completeReport}, nil)
	issue := gateway.Name(widgets, 1)
	if !m.await("the end of the issue", func() bool { return m.ended[issue] != "" }) {
		return false
	}
	var pull struct{ Head struct{ SHA string } }
	m.ask("GET", "/pulls/2", nil, &pull)
	m.ask("POST", "/statuses/"+pull.Head.SHA, map[string]any{"state": "success", "context": "ci"}, nil)
	m.ask("POST", "/pulls/2/reviews", map[string]any{"event": "APPROVE"}, nil)
	if !m.await("the end of the story", func() bool { return len(m.ended) == 2 }) {
		return false
	}
	for id, state := range m.ended {
		if want := map[bool]string{true: "completed", false: "merged"}[id == issue]; state != want {
			m.Errorf("%s ended in %s, want %s", id, state, want)
		}
	}
	return true
}
