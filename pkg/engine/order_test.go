package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
)

// load is workers that take claim tokens, in the order of the log, from one queue a
// role, and put back those that are refused as held.
type load struct {
	*env
	*engine.Engine
	queues map[string]chan claimToken
	open   atomic.Int64
	asked  atomic.Int64
	over   context.CancelFunc
}

type claimToken struct {
	instance string
	work     uint64
}

// Forty workers claim, fail, fall silent and finish while what they work on
// arrives, changes and is paused. Afterwards the log is asked whether anybody
// ever took anything while something more urgent was ready.
func TestNobodyTakesWhatIsLessUrgent(t *testing.T) {
	const instances, workers = 600, 40
	w := newEnv(t)
	w.define(queue)
	start, ticks := nine().now(), atomic.Int64{}
	ctx, over := context.WithTimeout(t.Context(), 5*time.Minute)
	defer over()
	c := &load{env: w, over: over, queues: map[string]chan claimToken{"worker": make(chan claimToken, 50*instances), "judge": make(chan claimToken, 50*instances)}}
	c.Engine = w.engine(func(c *engine.Config) { // each look at the clock takes two milliseconds
		c.Now = func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * 2 * time.Millisecond) }
	})
	w.follow(c.Engine)
	c.open.Store(instances)
	var all sync.WaitGroup
	all.Go(func() { c.deliver(ctx) })
	c.arrive(ctx, 0, instances/2) // half are there when they begin
	for i := range 3 {
		all.Go(func() { c.arrive(ctx, i+1, instances/6) })
	}
	for i := range workers {
		role := []string{"worker", "judge"}[i%2]
		all.Go(func() { c.work(ctx, role, fmt.Sprintf("%s-%d", role, i), rand.New(rand.NewPCG(7, uint64(i)))) })
	}
	all.Wait()
	if n := c.open.Load(); n > 0 {
		t.Fatalf("%d instances never ended", n)
	}
	order, err := logcheck.CheckOrder(t.Context(), w.store, w.defs.Catalog.Hashed)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range order.Violations() {
		t.Error(v)
	}
	report, err := logcheck.Check(t.Context(), w.store, w.defs.Catalog.Hashed)
	if err != nil || len(report.Violations) > 0 {
		t.Errorf("%v, %v", report.Violations, err)
	}
	t.Logf("%d commits, %d claims, %d of them with a choice", report.Commits, order.Claims, order.Choices)
	if order.Choices < instances {
		t.Errorf("only %d of %d claims had a choice: this proves little", order.Choices, order.Claims)
	}
}

// deliver makes claim tokens of what the log dispatches, and ends it all when all
// instances have ended.
func (c *load) deliver(ctx context.Context) {
	owner := map[string]string{"todo": "worker", "check": "judge"}
	_ = c.store.Read(ctx, 1, func(commit eventstore.Commit) error {
		if commit.Wakes {
			c.queues[owner[commit.State]] <- claimToken{commit.Instance, commit.Seq}
		}
		if commit.State == "done" && c.open.Add(-1) == 0 {
			c.over()
		}
		return nil
	}, nil)
}

// arrive opens instances of four urgencies, and now and then changes one, pauses
// it and lets it go on.
func (c *load) arrive(ctx context.Context, who, n int) {
	dice := rand.New(rand.NewPCG(1, uint64(who)))
	for i := range n {
		id := fmt.Sprintf("%d-%d", who, i)
		c.ask(ctx, id, instance.Open{Issue: instance.Issue{Title: id}, Vars: map[string]string{"urgency": fmt.Sprint(dice.IntN(4))}})
		if dice.IntN(4) == 0 {
			c.ask(ctx, fmt.Sprintf("%d-%d", who, dice.IntN(i+1)), instance.Signal{Name: "said", Data: map[string]string{"urgency": fmt.Sprint(dice.IntN(4))}})
		}
		if dice.IntN(8) == 0 {
			id = fmt.Sprintf("%d-%d", who, dice.IntN(i+1))
			c.ask(ctx, id, instance.Pause{Reason: "lunch"})
			c.ask(ctx, id, instance.Resume{Reason: "fed"})
		}
	}
}

// ask sends a command; that it is refused is fine.
func (c *load) ask(ctx context.Context, id string, do instance.Action) (instance.Instance, error) {
	out, err := c.Handle(ctx, cmd(fmt.Sprintf("c-%d", c.asked.Add(1)), id, do), "queue")
	if err != nil && ctx.Err() == nil && !errors.As(err, new(*instance.Refusal)) {
		c.Errorf("%T of %s: %v", do, id, err)
	}
	return out.Instance, err
}

func (c *load) work(ctx context.Context, role, name string, dice *rand.Rand) {
	for {
		var p claimToken
		select {
		case p = <-c.queues[role]:
		case <-ctx.Done():
			return
		}
		in, err := c.ask(ctx, p.instance, instance.Claim{Role: role, Agent: name, Work: p.work, Lease: 5 * time.Second})
		switch {
		case errors.Is(err, &instance.Refusal{Code: instance.CodeHeld}):
			c.queues[role] <- p
			continue
		case err != nil:
			continue // it is past
		}
		token := in.Claim.Token
		if dice.IntN(3) == 0 {
			c.ask(ctx, in.ID, instance.Heartbeat{Token: token, Lease: 5 * time.Second})
		}
		back := false // a token whose work is not done comes again
		switch dice.IntN(12) {
		case 0:
			back = true // it falls silent
		case 1:
			c.ask(ctx, in.ID, instance.Fail{Token: token, Reason: "disk"})
			back = true
		case 2:
			_, err = c.ask(ctx, in.ID, instance.Release{Token: token, Reason: "tired"})
			back = err != nil
		default:
			status := instance.Success
			if dice.IntN(5) == 0 {
				status = instance.Failure
			}
			_, err = c.ask(ctx, in.ID, instance.Report{Token: token, Result: instance.Result{Status: status}})
			back = err != nil
		}
		if back {
			c.queues[role] <- p
		}
	}
}
