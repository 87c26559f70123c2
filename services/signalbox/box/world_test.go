package box_test

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
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/task"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/box"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const widgets = "acme/widgets"

// world is a whole box with one repository, in which the test is the person.
type world struct {
	*testing.T
	ctx    context.Context
	box    *box.Box
	client *client.Client
	dir    string // holds what the developers' programs are given
}

// patience is how long one test may take on a busy machine.
const patience = 4 * time.Minute

// live runs the test in a box whose developer is a shell script; empty: there is
// none. A widget is tested by check.sh.
func live(t *testing.T, developer string, test func(*world)) {
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
	err := box.Run(t.Context(), box.Config{
		Dir: filepath.Join(dir, "data"), Sync: 100 * time.Millisecond, Listen: "127.0.0.1:0", Workflow: "task", Every: time.Second,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), Flags: service.Flags{Grace: 20 * time.Second}, Agents: agents,
		Repos: map[string]box.Source{widgets: {Dir: g.Dir()}}, Login: "ann",
		Main: func(ctx context.Context, b *box.Box) error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			test(&world{t, ctx, b, client.New(b.NATS, "operator:ann"), dir})
			return nil
		},
	})
	if err != nil || t.Failed() {
		t.Errorf("the box ended with %v\n%s", err, log.String())
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// begin opens a task.
func (w *world) begin(id, title, body string) {
	_, err := w.client.Start(w.ctx, "", id, &pb.Open{Workflow: "task", Issue: wire.Issue(instance.Issue{Repo: widgets, Title: title, Body: body})})
	if err != nil {
		w.Errorf("open %s: %v", id, err)
	}
}

// reaches waits until the task is in the state, at a commit after the one given.
func (w *world) reaches(id, state string, after uint64) *pb.Instance {
	return w.until(id, "in "+state, func(in *pb.Instance) bool { return in.GetState() == state && in.GetSeq() > after })
}

// until waits until the task is as wanted.
func (w *world) until(id, what string, wanted func(*pb.Instance) bool) *pb.Instance {
	in, err := w.client.Get(w.ctx, id)
	if err == nil && !wanted(in) {
		err = w.client.Watch(w.ctx, id, in.GetSeq(), func(client.Seen) (err error) {
			if in, err = w.client.Get(w.ctx, id); err == nil && wanted(in) {
				err = client.ErrDone
			}
			return err
		})
	}
	if err != nil {
		w.Errorf("%s is in %s (%s), not %s; the last result: %s: %v", id, in.GetState(), in.GetReason(), what, in.GetLastResult().GetSummary(), err)
	}
	return in
}

// call is the command line; it returns what was printed and the exit code.
func (w *world) call(args ...string) (out string, code int) {
	var stdout, stderr bytes.Buffer
	env := term.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, User: "operator:ann", Now: time.Now}
	code = cli.Run(w.ctx, env, append(args, "--nats", w.box.URL, "--timeout", "60s"))
	return stdout.String() + stderr.String(), code
}

// told is the log of a task as the command line prints it for programs.
func (w *world) told(id string) (events []task.Event) {
	out, code := w.call("history", id, "--format", "task", "--json")
	for line := range strings.Lines(out) {
		var e task.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || code != 0 {
			w.Errorf("history of %s ends with %d: %v in %s", id, code, err, line)
			return nil
		}
		events = append(events, e)
	}
	return events
}

// moves are the states a task went through.
func (w *world) moves(id string) string {
	all := ""
	for _, m := range task.Transitions(w.told(id)) {
		all += m.ToState + " "
	}
	return strings.TrimSpace(all)
}

// file is what a branch on the forge has of a file.
func (w *world) file(branch, name string) string {
	w.Helper()
	clone := git.New(w.TempDir())
	url := strings.Replace(w.box.Forge.URL, "http://", "http://ann:"+w.box.Forge.Secret+"@", 1) + "/" + widgets + ".git"
	if _, err := clone.Run(w.ctx, "clone", "-q", "--branch", branch, url, "."); err != nil {
		w.Errorf("there is no branch %s: %v", branch, err)
		return ""
	}
	text, err := os.ReadFile(filepath.Join(clone.Dir(), name))
	if err != nil {
		w.Error(err)
	}
	return string(text)
}
