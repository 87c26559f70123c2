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
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

const widgets = "acme/widgets"

// repository returns a repository whose tests check its greeting.
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

// agents returns the brains: the foreign programs. The build role works by rules.
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

// env is a system with the pipeline lifecycle and one repository. The test acts as
// the person ann.
type env struct {
	*testing.T
	ctx    context.Context
	system *allinone.System
	client *client.Client
	ann    *github.Client
}

// withEnv runs test in an environment.
func withEnv(t *testing.T, test func(*env)) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var log bytes.Buffer
	err := allinone.Run(ctx, allinone.Config{
		Dir: filepath.Join(t.TempDir(), "data"), Sync: 100 * time.Millisecond, Workflow: "pipeline", Every: 500 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(&log, nil)), Flags: service.Flags{Grace: 20 * time.Second},
		Agents: role.Settings{Brain: agents(t), Sandbox: "none", Workers: 2, Wall: 2 * time.Minute, Idle: 2 * time.Minute},
		Repos:  map[string]allinone.Source{widgets: {Dir: repository(t)}}, Login: "ann", Alone: true,
		Main: func(ctx context.Context, s *allinone.System) error {
			ann, err := github.New(github.Config{BaseURL: s.Forge.API(), Token: s.Forge.Secret})
			if err == nil {
				test(&env{T: t, ctx: ctx, system: s, client: client.New(s.NATS, "operator:ann"), ann: ann})
			}
			return err
		},
	})
	if err != nil || t.Failed() {
		t.Errorf("the system ended with %v\n%s", err, log.String())
	}
}

// begin opens an issue with the title.
func (e *env) begin(title string) (id string, number int) {
	issue, err := e.ann.CreateIssue(e.ctx, widgets, forge.NewIssue{Title: title, Body: "Please greet."})
	if err != nil {
		e.Errorf("%s: %v", title, err)
	}
	return fmt.Sprintf("%s/%d", widgets, issue.Number), issue.Number
}

// until follows the instance until there returns true. It validates the document
// after each commit.
func (e *env) until(id string, there func(instance.Instance, pipeline.Document) bool) (in instance.Instance, doc pipeline.Document) {
	in.ID = id
	err := e.client.Watch(e.ctx, id, 0, func(seen client.LogEntry) error {
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
			return client.ErrStopWatch
		}
		if in.Closed != "" {
			return fmt.Errorf("it %s in %s: %s", in.Closed, in.State, in.Reason)
		}
		return nil
	})
	if err != nil {
		e.Errorf("%s (%s) is in %s after %q: %v", id, in.Issue.Title, in.State, in.Previous.Slice(), err)
	}
	return in, doc
}

func in(state string) func(instance.Instance, pipeline.Document) bool {
	return func(in instance.Instance, _ pipeline.Document) bool { return in.State == state }
}

// awaitComment waits for a comment of Signalbox on the issue that has all of the words.
func (e *env) awaitComment(number int, words ...string) {
	_, err := backoff.Retry(e.ctx, func() (bool, error) {
		all, err := e.ann.Comments(e.ctx, widgets, number, time.Time{})
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
		e.Errorf("issue %d: %v", number, err)
	}
}

// comment comments on the issue as ann.
func (e *env) comment(number int, text string) {
	if _, err := e.ann.Comment(e.ctx, widgets, number, text); err != nil {
		e.Errorf("issue %d: %v", number, err)
	}
}

// file returns the content of a file on a branch of the forge.
func (e *env) file(branch, name string) string {
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
