package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// syntheticLog is a log of many instances that all have the same past, made as it is
// read and kept nowhere.
type syntheticLog struct {
	eventstore.Store
	instances int
	past      []eventstore.Commit
}

// newSyntheticLog is a log of instances that got through so many of eight steps.
func newSyntheticLog(t testing.TB, instances, steps int, claimed bool) (*syntheticLog, definitions) {
	def, err := workflow.Load("line", []byte(line()))
	if err != nil {
		t.Fatal(err)
	}
	defs, log := definitions{workflow.NewCatalog(def)}, memory.New()
	e := engine.New(engine.Config{Store: log, Definitions: defs, Now: time.Now})
	plain := result()
	plain.Data = nil
	var now instance.Instance
	do := func(actor string, a instance.Action) {
		out, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprint("command-", now.Seq), Instance: "template", Actor: actor, Do: a}, "line")
		if err != nil {
			t.Fatal(err)
		}
		now = out.Instance
	}
	do("operator:ann", instance.Open{Issue: instance.Issue{Repo: "acme/widgets", Number: 42, Title: "The button does nothing", Body: "When I press the button nothing happens.", Author: "octocat"}})
	for range steps {
		do(now.Owner+"/agent-1", instance.Claim{Role: now.Owner, Agent: "agent-1", Work: now.Work, Lease: time.Minute})
		do(now.Owner+"/agent-1", instance.Report{Token: now.Claim.Token, Result: plain})
	}
	if claimed {
		do(now.Owner+"/agent-1", instance.Claim{Role: now.Owner, Agent: "agent-1", Work: now.Work, Lease: time.Minute})
	}
	past, err := log.Load(t.Context(), "template")
	if err != nil {
		t.Fatal(err)
	}
	return &syntheticLog{log, instances, past}, defs
}

func (c *syntheticLog) head() uint64 { return uint64(c.instances * len(c.past)) }

func (c *syntheticLog) Head(context.Context) (uint64, error) { return c.head(), nil }

// each gives the commits from a sequence on.
func (c *syntheticLog) each(from uint64, f func(eventstore.Commit) error) error {
	for n := int(from-1) / len(c.past); n < c.instances; n++ {
		chain := ""
		for i, one := range c.past {
			const prefix = "sb.evt.work.line.s1." // of a subject: a store's commits have a piece of it
			one.Instance = fmt.Sprintf(prefix+"acme/widgets/%d", n)[len(prefix):]
			one.ID, one.Seq = fmt.Sprintf("%s-%d", one.ID, n), uint64(n*len(c.past)+i+1)
			if one.Prev > 0 {
				one.Prev = one.Seq - 1
			}
			one.Chain = eventstore.NextChain(chain, one)
			chain = one.Chain
			if one.Seq < from {
				continue
			}
			if err := f(one); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *syntheticLog) Read(ctx context.Context, from uint64, f func(eventstore.Commit) error, caught func()) error {
	if err := c.each(from, f); err != nil {
		return err
	}
	caught()
	<-ctx.Done()
	return ctx.Err()
}

// newFollowing returns an engine that has read the log, and follows it until the test ends.
func newFollowing(t testing.TB, c engine.Config, before ...func(*engine.Engine)) *engine.Engine {
	e := engine.New(c)
	for _, f := range before {
		f(e)
	}
	ctx, stop := context.WithCancel(context.Background())
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- e.Follow(ctx, func() { close(caught) }) }()
	t.Cleanup(func() { stop(); <-ended })
	select {
	case <-caught:
	case err := <-ended:
		t.Fatal(err)
	}
	return e
}

// BenchmarkReplay is one commit of a log that is read again.
func BenchmarkReplay(b *testing.B) {
	log, defs := newSyntheticLog(b, 1+b.N/17, 8, false)
	var all []eventstore.Commit
	_ = log.each(1, func(c eventstore.Commit) error { all = append(all, c); return nil })
	e := engine.New(engine.Config{Store: &replayedLog{log, all}, Definitions: defs, Now: time.Now})
	ctx, stop := context.WithCancel(b.Context())
	b.ResetTimer()
	defer processor(b)()
	if err := e.Follow(ctx, stop); err != context.Canceled {
		b.Fatal(err)
	}
}

// replayedLog is a log in memory, to be read and no more.
type replayedLog struct {
	eventstore.Store
	all []eventstore.Commit
}

func (l *replayedLog) Read(ctx context.Context, _ uint64, f func(eventstore.Commit) error, caught func()) error {
	for _, c := range l.all {
		if err := f(c); err != nil {
			return err
		}
	}
	caught()
	return ctx.Err()
}
