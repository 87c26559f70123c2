package resolve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/pipeline"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/box"
)

const widgets = "acme/widgets"

// repository is one whose tests find what is wrong in its greeting.
func repository(t *testing.T) string {
	t.Helper()
	g := gittest.Repo(t)
	for name, text := range map[string]string{
		".signalbox.yaml": "test: {command: sh check.sh}\n", "check.sh": "if grep -n wrong greeting; then exit 1; fi\n", "greeting": "hello\n",
	} {
		if err := os.WriteFile(filepath.Join(g.Dir(), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	return g.Dir()
}

// agents are the foreign programs; the build works by rules.
func agents(t *testing.T) []string {
	t.Helper()
	program, err := json.Marshal([]string{os.Args[0], "agent"})
	if err != nil {
		t.Fatal(err)
	}
	var brains []string
	for _, name := range []string{"triage", "analyst", "writer", "reviewer"} {
		brains = append(brains, name+"=exec:"+string(program))
	}
	return brains
}

// world is a whole box on the pipeline lifecycle, with one repository, in which
// the test is the person ann.
type world struct {
	*testing.T
	ctx    context.Context
	box    *box.Box
	client *client.Client
	ann    *github.Client
}

// live runs the test in a box.
func live(t *testing.T, test func(*world)) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var log bytes.Buffer
	err := box.Run(ctx, box.Config{
		Dir: filepath.Join(t.TempDir(), "data"), Sync: 100 * time.Millisecond, Workflow: "pipeline", Every: 500 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(&log, nil)), Flags: service.Flags{Grace: 20 * time.Second},
		Agents: role.Settings{Brain: agents(t), Sandbox: "none", Workers: 2, Wall: 2 * time.Minute, Idle: 2 * time.Minute},
		Repos:  map[string]box.Source{widgets: {Dir: repository(t)}}, Login: "ann", Alone: true,
		Main: func(ctx context.Context, b *box.Box) error {
			ann, err := github.New(github.Config{BaseURL: b.Forge.API(), Token: b.Forge.Secret})
			if err == nil {
				test(&world{T: t, ctx: ctx, box: b, client: client.New(b.NATS, "operator:ann"), ann: ann})
			}
			return err
		},
	})
	if err != nil || t.Failed() {
		t.Errorf("the box ended with %v\n%s", err, log.String())
	}
}

// begin reports an issue of the title.
func (w *world) begin(title string) (id string, number int) {
	issue, err := w.ann.CreateIssue(w.ctx, widgets, forge.NewIssue{Title: title, Body: "Please greet."})
	if err != nil {
		w.Errorf("%s: %v", title, err)
	}
	return fmt.Sprintf("%s/%d", widgets, issue.Number), issue.Number
}

// until follows the instance up to a moment, and holds the document of every
// commit on the way to its schema.
func (w *world) until(id string, there func(instance.Instance, pipeline.Document) bool) (in instance.Instance, doc pipeline.Document) {
	in.ID = id
	err := w.client.Watch(w.ctx, id, 0, func(seen client.Seen) error {
		in = instance.Evolve(in, seen.Commit)
		doc = pipeline.Of(in, 0)
		text, err := doc.Encode()
		if err == nil {
			err = pipeline.Validate(text)
		}
		if err != nil {
			return fmt.Errorf("after commit %d the document is wrong: %w\n%s", seen.Seq, err, text)
		}
		if there(in, doc) {
			return client.ErrDone
		}
		if in.Closed != "" {
			return fmt.Errorf("it %s in %s: %s", in.Closed, in.State, in.Reason)
		}
		return nil
	})
	if err != nil {
		w.Errorf("%s (%s) is in %s after %q: %v", id, in.Issue.Title, in.State, in.Previous.Slice(), err)
	}
	return in, doc
}

func in(state string) func(instance.Instance, pipeline.Document) bool {
	return func(in instance.Instance, _ pipeline.Document) bool { return in.State == state }
}

// told waits for a comment of ours on the issue that has all of the words.
func (w *world) told(number int, words ...string) {
	_, err := backoff.Retry(w.ctx, func() (bool, error) {
		all, err := w.ann.Comments(w.ctx, widgets, number, time.Time{})
		if err != nil {
			return false, err
		}
		var said strings.Builder
	next:
		for _, c := range all {
			fmt.Fprintf(&said, "%s: %s\n", c.Author.Login, c.Body)
			for _, word := range words {
				if !strings.Contains(c.Body, word) {
					continue next
				}
			}
			if c.Author.Login == "signalbox" {
				return true, nil
			}
		}
		return false, fmt.Errorf("nobody says %q, but %s", words, said.String())
	}, backoff.WithMaxElapsedTime(2*time.Minute))
	if err != nil {
		w.Errorf("issue %d: %v", number, err)
	}
}

func (w *world) say(number int, text string) {
	if _, err := w.ann.Comment(w.ctx, widgets, number, text); err != nil {
		w.Errorf("issue %d: %v", number, err)
	}
}

// file is what a branch on the forge has of a file.
func (w *world) file(branch, name string) string {
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
