package allinone_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/document/task"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const widgets = "acme/widgets"

// env is a system with one repository. The test acts as the person.
type env struct {
	*testing.T
	ctx    context.Context
	system *allinone.System
	client *client.Client
	dir    string // of the developer's script and the data
}

// patience is how long a test may take on a loaded machine.
const patience = 4 * time.Minute

// withEnv runs test in an environment whose developer is a shell script; empty: there
// is no developer. The tests of the repository are check.sh.
func withEnv(t *testing.T, developer string, test func(*env)) {
	t.Helper()
	dir, g := t.TempDir(), gittest.Repo(t)
	for name, text := range map[string]string{
		".signalbox.yaml": "test: {command: sh check.sh}\n", "check.sh": "! grep -rn wrong greeting\n", "greeting": "hello\n",
	} {
		write(t, filepath.Join(g.Dir(), name), text)
	}
	gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	agents := role.Settings{Sandbox: "none", Workers: 1, Wall: time.Minute, Idle: time.Minute}
	if developer != "" {
		script := filepath.Join(dir, "developer.sh")
		write(t, script, developer)
		agents.Brain = []string{"fullstack-developer=exec:sh " + script}
	}
	var log bytes.Buffer
	err := allinone.Run(t.Context(), allinone.Config{
		Dir: filepath.Join(dir, "data"), Sync: 100 * time.Millisecond, Listen: "127.0.0.1:0", Workflow: "task", Every: time.Second,
		Log:   slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Flags: service.Flags{Grace: 20 * time.Second}, Agents: agents,
		Repos: map[string]allinone.Source{widgets: {Dir: g.Dir()}}, Login: "ann",
		Main: func(ctx context.Context, s *allinone.System) error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			test(&env{t, ctx, s, client.New(s.NATS, "operator:ann"), dir})
			return nil
		},
	})
	private(t, filepath.Join(dir, "data"))
	if err != nil || t.Failed() {
		t.Errorf("the system ended with %v\n%s", err, log.String())
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// begin opens a task.
func (e *env) begin(id, title, body string) {
	_, err := e.client.OpenWith(e.ctx, "", id,
		&pb.Open{Workflow: "task", Issue: wire.Issue(instance.Issue{Repo: widgets, Title: title, Body: body})})
	if err != nil {
		e.Errorf("open %s: %v", id, err)
	}
}

// reaches waits until the task is in the state, at a commit after the one given.
func (e *env) reaches(id, state string, after uint64) *pb.Instance {
	return e.until(id, "in "+state, func(in *pb.Instance) bool { return in.GetState() == state && in.GetSeq() > after })
}

// until waits until wanted returns true for the task.
func (e *env) until(id, what string, wanted func(*pb.Instance) bool) *pb.Instance {
	in, err := e.client.Get(e.ctx, id)
	if err == nil && !wanted(in) {
		err = e.client.Watch(e.ctx, id, in.GetSeq(), func(client.LogEntry) (err error) {
			if in, err = e.client.Get(e.ctx, id); err == nil && wanted(in) {
				err = client.ErrStopWatch
			}
			return err
		})
	}
	if err != nil {
		e.Errorf("%s is in %s (%s), not %s; the last result: %s: %v", id, in.GetState(), in.GetReason(), what, in.GetLastResult().GetSummary(),
			err)
	}
	return in
}

// call runs a command line. It returns the output and the exit code.
func (e *env) call(args ...string) (out string, code int) {
	var stdout, stderr bytes.Buffer
	terminal := term.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, User: "operator:ann", Now: time.Now}
	code = cli.Run(e.ctx, terminal, append(args, "--nats", e.system.URL, "--timeout", "60s"))
	return stdout.String() + stderr.String(), code
}

// history returns the events of a task as `history --format task --json` prints them.
func (e *env) history(id string) (events []task.Event) {
	out, code := e.call("history", id, "--format", "task", "--json")
	for line := range strings.Lines(out) {
		var event task.Event
		if err := json.Unmarshal([]byte(line), &event); err != nil || code != 0 {
			e.Errorf("history of %s ends with %d: %v in %s", id, code, err, line)
			return nil
		}
		events = append(events, event)
	}
	return events
}

// moves returns the states a task went through, separated by blanks.
func (e *env) moves(id string) string {
	all := ""
	for _, m := range task.Transitions(e.history(id)) {
		all += m.ToState + " "
	}
	return strings.TrimSpace(all)
}

// file returns the content of a file on a branch of the forge.
func (e *env) file(branch, name string) string {
	e.Helper()
	clone := git.New(e.TempDir())
	url := strings.Replace(e.system.Forge.URL, "http://", "http://ann:"+e.system.Forge.Secret+"@", 1) + "/" + widgets + ".git"
	if _, err := clone.Run(e.ctx, "clone", "-q", "--branch", branch, url, "."); err != nil {
		e.Errorf("there is no branch %s: %v", branch, err)
		return ""
	}
	text, err := os.ReadFile(filepath.Join(clone.Dir(), name))
	if err != nil {
		e.Error(err)
	}
	return string(text)
}
