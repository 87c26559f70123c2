package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// change is what the scripted developer does with a piece of work.
type change struct {
	file, text string // empty: nothing
	says       string
	fails      bool // the acceptance criteria do not pass on it
	unproven   bool // no test shows it to be right
	err        error
}

// developer does what the script of the env says, and hands over a commit with
// the evidence that a real one's runtime would make. It implements agent.Handler.
type developer struct {
	w     *env
	cache *workspace.Cache
}

// Work implements agent.Handler.
func (d developer) Work(ctx context.Context, job agent.Job) (r instance.Result, err error) {
	d.w.mu.Lock()
	does := d.w.develop(job)
	if job.Question != nil {
		d.w.asked = append(d.w.asked, job.Question.Text)
	}
	d.w.mu.Unlock()
	if job.Question != nil && job.Question.RunOnly {
		does.file = "" // a real one's brain is not asked
	}
	if does.err != nil {
		return r, does.err
	}
	tree, err := d.cache.Checkout(ctx, workspace.Spec{Repo: widgets, Bundles: forgeside.BundleObjects(job), Base: job.Base, Head: job.Head})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	r = instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: does.says}
	if does.file != "" {
		if err := os.WriteFile(filepath.Join(tree.Dir, does.file), []byte(does.text), 0o644); err != nil {
			return r, err
		}
		if _, _, err := tree.Commit(ctx, "Write "+does.file); err != nil {
			return r, err
		}
		if r.Bundle, err = tree.Bundle(ctx); err != nil {
			return r, err
		}
		r.Head = tree.Head
	}
	ev := instance.Evidence{Name: "acceptance", OK: !does.fails, Commit: tree.Head, Command: "make check"}
	if !does.fails {
		ev.Judgement = &verdict.Judgement{Kind: verdict.Code, Base: job.Base, Change: tree.Head, Shown: true,
			Tests: []verdict.ShownTest{{Name: "make check", Base: job.Base, Change: tree.Head, Cause: verdict.Assertion}}}
	}
	if does.unproven {
		ev.Judgement = &verdict.Judgement{Kind: verdict.Code, Base: job.Base, Change: tree.Head, Unproven: "all tests that ran passed before the change as well"}
	}
	if does.fails {
		ev.ExitCode, ev.Failed = 2, []string{"make check"}
		r.Status = instance.Failure
	}
	r.Evidence = []instance.Evidence{ev}
	return r, nil
}

// onClaim has f called whenever the shepherd begins a piece of work.
func (e *env) onClaim(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.claimed = f
}

// claims are the stories that the shepherd began to work on, in order.
func (e *env) claims() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, job := range e.late {
		all = append(all, strings.TrimPrefix(job.Instance, widgets+"/"))
	}
	return all
}

// until looks again at every commit until what is wanted is so.
func (e *env) until(wanted func() bool) {
	e.Helper()
	if wanted() {
		return
	}
	err := e.client.Watch(e.ctx, "", 0, func(client.LogEntry) error {
		if wanted() {
			return client.ErrStopWatch
		}
		return nil
	})
	if err != nil {
		e.Fatal(err)
	}
}

// noting is a shepherd whose claims are remembered.
type noting struct {
	w *env
	*shepherd
}

// Work implements agent.Handler.
func (n noting) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	n.w.mu.Lock()
	n.w.late = append(n.w.late, job)
	claimed := n.w.claimed
	n.w.mu.Unlock()
	if claimed != nil {
		claimed()
	}
	return n.shepherd.Work(ctx, job)
}
