// Package historyfill fills a log with the commits of many instances, as the engine
// makes them.
package historyfill

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/bench/parallel"
)

// Kind describes the history of an instance.
type Kind struct {
	Commits int // at least 3: one to open it, two for each step, a note if one is left
	Ended   bool
}

// owner is the role of the states. It has no agents.
const owner = "nobody"

// Template returns the commits of one instance, made by an engine. The definition has one
// state, which leads to itself or to "done".
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
		return e.Handle(ctx, instance.Command{ID: strconv.Itoa(n), Instance: "template", Actor: owner + "/bench", Do: what}, def.Name)
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
		if k.Ended && n+1 == k.Commits {
			result.Next = "done"
		}
		out, err = do(instance.Report{Token: out.Instance.Claim.Token, Result: result})
		work = out.Seq
	}
	if err != nil {
		return nil, err
	}
	return log.Load(ctx, "template")
}

// Fill appends the commits of the template for each of a number of instances, width at a
// time. Their names are prefix/0 and so on.
func Fill(ctx context.Context, log eventstore.Store, template []eventstore.Commit, prefix string, instances, width int) error {
	return parallel.Do(ctx, instances, width, func(ctx context.Context, i int) error {
		return appendAll(ctx, log, template, prefix+"/"+strconv.Itoa(i))
	})
}

// appendAll appends the commits of the template as those of one instance.
func appendAll(ctx context.Context, log eventstore.Store, template []eventstore.Commit, name string) error {
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

// only is a catalog of one definition.
type only struct{ def *workflow.Definition }

func (o only) Named(string) (*workflow.Definition, error) { return o.def, nil }

func (o only) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if hash != o.def.Hash {
		return nil, errors.Join(workflow.ErrUnknown, errors.New(hash))
	}
	return o.def, nil
}
