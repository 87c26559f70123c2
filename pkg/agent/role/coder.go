// Package role is what the roles that work on code do with an assignment: a
// work tree, the tests, a brain, and a check of what it left.
package role

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/instance"
)

// Coder is a role that works on code. It implements agent.Handler.
type Coder struct {
	Duty
	Brains    Brains
	Workspace *workspace.Cache
	Objects   workspace.Objects
	Sandbox   sandbox.Sandbox
	Rules     workspace.Rules // what may leave the work tree
}

// Duty is what a role does in which of its states.
type Duty struct {
	// Tests names the states in which the runtime runs the repository's tests.
	// A brain may judge them there; what it changes is dropped.
	Tests []string
	// Changes names the states that ask for a change: success without one is a failure.
	Changes []string
}

// Work implements agent.Handler.
func (c Coder) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	think, err := c.Brains.For(job.State)
	if err != nil {
		// Whoever runs this has to mend it; the work has not even been tried.
		return instance.Result{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	a := job.Assignment
	if a.Base == "" {
		if c.tests(job.State) || c.changes(job.State) {
			return instance.Result{Status: instance.Blocked, Summary: "there is no code: the instance was opened without a repository"}, nil
		}
		out, err := think.Work(ctx, a)
		return judgement(out), err
	}
	tree, err := c.Workspace.Checkout(ctx, workspace.Spec{Repo: repo(job), Bundles: objects(job), Base: a.Base, Head: a.Head})
	if err != nil {
		return instance.Result{}, err
	}
	defer func() {
		if err := tree.Close(); err != nil {
			job.Progress("the work tree stays behind: %v", err) // the result is as good without; Sweep removes it
		}
	}()
	return c.inTree(ctx, job, think, tree)
}

func (c Coder) inTree(ctx context.Context, job agent.Job, think brain.Brain, tree *workspace.Tree) (instance.Result, error) {
	a := job.Assignment
	a.Dir, a.Shared = tree.Dir, tree.Shared
	var evidence []instance.Evidence
	if c.tests(job.State) {
		ev, err := c.test(ctx, job, tree)
		if err != nil {
			return instance.Result{}, err
		}
		evidence = []instance.Evidence{ev}
		a.Evidence = evidence
	}
	job.Progress("thinking")
	out, err := think.Work(ctx, a)
	result := judgement(out)
	if len(out.Output) > 0 {
		artifact, perr := c.keep(ctx, job, out.Output)
		if perr != nil {
			return result, perr
		}
		result.Artifacts = append(result.Artifacts, artifact)
	}
	if err != nil {
		return result, err
	}
	result.Evidence = evidence
	if c.tests(job.State) {
		return judged(result, evidence[0]), nil
	}
	return c.collect(ctx, job, tree, out.Declared, result)
}

// judgement is a brain's result without what is not a brain's to say.
func judgement(out brain.Outcome) instance.Result {
	r := out.Result
	r.Summary = printable(r.Summary)
	r.Base, r.Head, r.Bundle, r.Evidence, r.Artifacts = "", "", "", nil, nil
	return r
}

// judged holds a brain's word against the evidence: it may doubt a pass, never
// a failure.
func judged(r instance.Result, ev instance.Evidence) instance.Result {
	if !ev.OK {
		if r.Status == instance.Success {
			r.Status = instance.Failure
		}
		r.FailureSignature = testrun.Signature(ev)
	}
	return r
}

// collect takes what the brain left in the tree.
func (c Coder) collect(ctx context.Context, job agent.Job, tree *workspace.Tree, declared bool, r instance.Result) (instance.Result, error) {
	diff, err := tree.Diff(ctx)
	if err != nil {
		return r, err
	}
	if diff.Empty() {
		if r.Status == instance.Success && (!declared || c.changes(job.State)) {
			return r, fmt.Errorf("%s says it is done and left no change", job.Role)
		}
		return r, nil
	}
	if r.Status != instance.Success {
		return r, nil // what a failed step left is not handed on
	}
	violations, err := tree.Check(ctx, c.Rules)
	if err != nil {
		return r, err
	}
	if len(violations) > 0 {
		for _, v := range violations {
			r.IssuesFound = append(r.IssuesFound, v.String())
		}
		return r, fmt.Errorf("the change may not leave the work tree: %s", strings.Join(r.IssuesFound, "; "))
	}
	head, moved, err := tree.Commit(ctx, message(job, r), "Signalbox-Instance: "+job.Instance, "Signalbox-State: "+job.State)
	if err != nil || !moved {
		return r, err
	}
	if r.Bundle, err = tree.Bundle(ctx); err != nil {
		return r, err
	}
	r.Head = head
	job.Progress("%s", diff)
	return r, nil
}

// printable is a program's text without what a terminal would obey: it goes into
// commits and comments.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// message is a step's commit message.
func message(job agent.Job, r instance.Result) string {
	subject, _, _ := strings.Cut(strings.TrimSpace(r.Summary), "\n")
	if subject == "" || len(subject) > 72 {
		subject = job.State + ": " + job.Issue.Title
	}
	return subject
}

// repo names the code's repository for the cache; an instance that is on no
// forge is its own.
func repo(job agent.Job) string {
	if job.Issue.Repo != "" {
		return job.Issue.Repo
	}
	return job.Instance
}

func objects(job agent.Job) []string {
	names := make([]string, len(job.Bundles))
	for i, b := range job.Bundles {
		names[i] = b.Object
	}
	return names
}
