// Package past is a history to measure with: commits as the engine makes them,
// in the log as it keeps them, of as many instances as wanted.
package historyfill

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Kind is one kind of instance.
type Kind struct {
	Commits int  // of each, at least 3: one to open it, two a step, a remark if that leaves one
	Over    bool // it has ended
}

// owner is the role of the states: nobody works for it.
const owner = "nobody"

// Template returns the commits of one instance under the definition, whose one
// state leads to itself or to "done", as an engine makes them.
func Template(ctx context.Context, def *workflow.Definition, k Kind) ([]eventstore.Commit, error) {
	if k.Commits < 3 {
		return nil, fmt.Errorf("an instance of %d commits: want at least 3", k.Commits)
	}
	log := memory.New()
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	e := engine.New(engine.Config{Store: log, Definitions: only{def}, Now: func() time.Time { return at }})
	n := 0
	do := func(what instance.Action) (engine.Outcome, error) {
		n, at = n+1, at.Add(10*time.Millisecond)
		return e.Handle(ctx, instance.Command{ID: strconv.Itoa(n), Instance: "past", Actor: owner + "/bench", Do: what}, def.Name)
	}
	out, err := do(instance.Open{Issue: instance.Issue{Title: "1"}})
	if err == nil && k.Commits%2 == 0 {
		_, err = do(instance.Note{Kind: "remark", Text: "one of many"})
	}
	work := out.Seq
	for err == nil && n < k.Commits {
		if out, err = do(instance.Claim{Role: owner, Agent: owner + "/bench", Work: work, Lease: 30 * time.Second}); err != nil {
			break
		}
		result := instance.Result{Status: instance.Success, ConfidenceScore: 1}
		if k.Over && n+1 == k.Commits {
			result.Next = "done"
		}
		out, err = do(instance.Report{Token: out.Instance.Claim.Token, Result: result})
		work = out.Seq
	}
	if err != nil {
		return nil, err
	}
	return log.Load(ctx, "past")
}

// Fill appends the template's history once for each of so many instances, named
// prefix/0 and so on, so many at a time.
func Fill(ctx context.Context, log eventstore.Store, template []eventstore.Commit, prefix string, instances, parallel int) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	next := make(chan int)
	var filling sync.WaitGroup
	for range parallel {
		filling.Go(func() {
			for i := range next {
				if err := one(ctx, log, template, prefix+"/"+strconv.Itoa(i)); err != nil {
					fail(err)
				}
			}
		})
	}
	for i := range instances {
		next <- i
	}
	close(next)
	filling.Wait()
	return context.Cause(ctx)
}

func one(ctx context.Context, log eventstore.Store, template []eventstore.Commit, name string) error {
	var last eventstore.Commit
	for _, c := range template {
		c.Instance, c.ID, c.Prev, c.Seq = name, name+"/"+c.ID, last.Seq, 0
		c.Chain = eventstore.NextChain(last.Chain, c)
		var err error
		if c.Seq, err = log.Append(ctx, c); err != nil {
			return err
		}
		last = c
	}
	return nil
}

// only is one definition.
type only struct{ def *workflow.Definition }

func (o only) Named(string) (*workflow.Definition, error) { return o.def, nil }

func (o only) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if hash != o.def.Hash {
		return nil, errors.Join(workflow.ErrUnknown, errors.New(hash))
	}
	return o.def, nil
}
