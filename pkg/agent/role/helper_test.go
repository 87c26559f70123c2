package role_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// objects is an object store in memory.
type objects struct {
	mu  sync.Mutex
	all map[string][]byte
	err error // of the next Put
}

func (o *objects) Put(_ context.Context, name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, o.err)
	}
	o.all[name] = b
	return err
}

func (o *objects) Get(_ context.Context, name string) (io.ReadCloser, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b, ok := o.all[name]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, fmt.Errorf("%w: object %s is not in the store", brain.ErrInfrastructure, name)
}

func (o *objects) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.all))
}

// thinks does what it is told: it implements brain.Brain.
type thinks func(ctx context.Context, a brain.Assignment) (brain.Outcome, error)

func (f thinks) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	return f(ctx, a)
}

// writes is a brain that leaves files, by name, and says it is done; those
// without a content it removes.
func writes(files map[string]string) thinks {
	return func(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
		for name, content := range files {
			path := filepath.Join(a.Dir, name)
			if content == "" {
				if err := os.Remove(path); err != nil {
					return brain.Outcome{}, err
				}
				continue
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
				return brain.Outcome{}, err
			}
		}
		return says(instance.Success), nil
	}
}

// says is a declared result.
func says(s instance.Status) brain.Outcome {
	return brain.Outcome{Declared: true, Result: instance.Result{Status: s, ConfidenceScore: 1, Summary: "what I did"}}
}

func saying(s instance.Status) thinks {
	return func(context.Context, brain.Assignment) (brain.Outcome, error) { return says(s), nil }
}

// env is a repository of which an instance has a snapshot.
type env struct {
	*testing.T
	objects *objects
	node    *workspace.Cache
	dir     string // the node's
	base    string
	bundle  string

	baselines *role.Baselines
	quick     time.Duration    // tests that take longer are run by name where they have to fail
	progress  *strings.Builder // nil: it is not kept
}

// progressOf returns what the roles report while f runs.
func (e *env) progressOf(f func()) string {
	e.progress = new(strings.Builder)
	defer func() { e.progress = nil }()
	f()
	return e.progress.String()
}

// newEnv has a repository with the files.
func newEnv(t *testing.T, files map[string]string) *env {
	t.Helper()
	w := &env{T: t, objects: &objects{all: map[string][]byte{}}, quick: time.Hour}
	g := gittest.Repo(t)
	source := g.Dir()
	if files["README"] == "" {
		files["README"] = "Read this.\n"
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(source, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(source, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "--quiet", "-m", "first")
	w.node, w.dir = w.newNode()
	var err error
	if w.base, w.bundle, err = w.node.Snapshot(t.Context(), "acme/widgets", workspace.Remote{URL: source}, ""); err != nil {
		t.Fatal(err)
	}
	return w
}

// newNode is another machine: it shares nothing but the object store.
func (e *env) newNode() (*workspace.Cache, string) {
	e.Helper()
	dir := e.TempDir()
	c, err := workspace.New(workspace.Config{Dir: dir, Objects: e.objects})
	if err != nil {
		e.Fatal(err)
	}
	return c, dir
}

// coder is the role with one brain.
func (e *env) coder(name string, think brain.Brain) role.Coder {
	e.Helper()
	return role.Coder{Brains: role.Brains{Role: name, Default: think}, Pause: time.Millisecond, Workspace: e.node, Objects: e.objects,
		Document: pipelinerole.Document{}, Rules: outbound.DefaultRules(), Baselines: e.baselines, QuickTests: e.quick}
}

// job is work of the role in a state, after the steps.
func (e *env) job(name, state string, steps ...instance.Result) agent.Job {
	job := agent.Job{
		Assignment: brain.Assignment{
			Instance: "acme/widgets/42", Workflow: "issue", Role: name, State: state, Base: e.base, Head: e.base,
			Issue: instance.Issue{Repo: "acme/widgets", Number: 42, Title: "The sum is wrong"},
		},
		Bundles: []instance.Bundle{{Object: e.bundle, Head: e.base}},
		Progress: func(format string, args ...any) {
			if e.progress != nil {
				fmt.Fprintf(e.progress, format+"\n", args...)
			}
		},
		Note: func(context.Context, string, string) error { return nil },
	}
	for _, s := range steps {
		job.Head = s.Head
		job.Bundles = append(job.Bundles, instance.Bundle{Object: s.Bundle, Head: s.Head})
	}
	job.Work = workOf(job)
	return job
}

// work has a brain work as the role in the state, and no tree stay behind.
func (e *env) work(name, state string, think brain.Brain, steps ...instance.Result) (instance.Result, error) {
	e.Helper()
	return e.do(e.job(name, state, steps...), think)
}

// in is work of another lifecycle; a question to the role, if there is one, is
// another person's.
func (e *env) in(workflow, name, state, question string) agent.Job {
	job := e.job(name, state)
	job.Workflow = workflow
	if question != "" {
		job.Question = &instance.Question{Number: 1, From: "a person", To: name, Text: question}
	}
	return job
}

// workOf is what the job's state asks of its role; nothing in a lifecycle that is
// not built in.
func workOf(job agent.Job) workflow.WorkSpec {
	def, err := workflow.Builtin(job.Workflow)
	if err != nil {
		return workflow.WorkSpec{}
	}
	return def.WorkOf(job.State, job.Role, job.Question != nil)
}

// do has a brain do a job.
func (e *env) do(job agent.Job, think brain.Brain) (instance.Result, error) {
	e.Helper()
	job.Work = workOf(job)
	r, err := e.coder(job.Role, think).Work(e.Context(), job)
	if left, rerr := os.ReadDir(filepath.Join(e.dir, "trees")); rerr != nil || len(left) != 0 {
		e.Errorf("%d work trees stay behind, %v", len(left), rerr)
	}
	return r, err
}

// done is work that succeeded.
func (e *env) done(name, state string, think brain.Brain, steps ...instance.Result) instance.Result {
	e.Helper()
	r, err := e.work(name, state, think, steps...)
	if err != nil || r.Status != instance.Success {
		e.Fatalf("%s in %s ended with %+v, %v", name, state, r, err)
	}
	return r
}

// content is a file as the next role sees it, on a machine of its own.
func (e *env) content(file string, steps ...instance.Result) string {
	e.Helper()
	job := e.job("analyst", "analyzing_requirements", steps...)
	var names []string
	for _, b := range job.Bundles {
		names = append(names, b.Object)
	}
	node, _ := e.newNode()
	tree, err := node.Checkout(e.Context(), workspace.Spec{Repo: "acme/widgets", Bundles: names, Base: job.Base, Head: job.Head})
	if err != nil {
		e.Fatal(err)
	}
	defer func() {
		if err := tree.Close(); err != nil {
			e.Error(err)
		}
	}()
	b, err := os.ReadFile(filepath.Join(tree.Dir, file))
	if err != nil && !os.IsNotExist(err) {
		e.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}
