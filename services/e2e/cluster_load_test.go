package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// lapLifecycle has five steps, none of which can fail.
const lapLifecycle = `
workflow: lap
version: 1
initial: one
states:
  one: {owner: runner, next: [two], decide: [{to: two}]}
  two: {owner: judge, next: [three], decide: [{to: three}]}
  three: {owner: runner, next: [four], decide: [{to: four}]}
  four: {owner: judge, next: [five], decide: [{to: five}]}
  five: {owner: runner, next: [done], decide: [{to: done}]}
  done: {final: true}
`

// load runs clients that open instances and add notes, and agents that work on
// them.
type load struct {
	cluster     *cluster
	wg          sync.WaitGroup
	agents      sync.WaitGroup
	stopClients context.CancelFunc // of the clients
	stopAgents  context.CancelFunc // of the agents
	acked       atomic.Int64
	unknown     atomic.Int64 // commands without a reply
	work        atomic.Int64 // jobs done

	mu   sync.Mutex
	acks map[string]ack // by command id
	errs []error
}

// ack is an acknowledgement that a client received.
type ack struct {
	instance string
	seq      uint64
}

const loadClients, loadAgents = 6, 4

// load starts clients and agents, each connected to another node first.
func (k *cluster) load(t *testing.T, seed uint64) *load {
	t.Helper()
	l := &load{cluster: k, acks: map[string]ack{}}
	var ctx context.Context
	ctx, l.stopClients = context.WithCancel(context.Background())
	for i := range loadClients {
		nc, _ := connectTo(t, k.urls(i))
		c, dice := client.New(nc, fmt.Sprint("operator:", i)), rand.New(rand.NewPCG(seed, uint64(i)))
		l.wg.Go(func() { l.client(ctx, c, dice, i) })
	}
	var rest context.Context
	rest, l.stopAgents = context.WithCancel(context.Background())
	for i := range loadAgents {
		role := []string{"runner", "judge"}[i%2]
		nc, js := connectTo(t, k.urls(i))
		a := agent.New(agent.Config{
			Role: role, Name: fmt.Sprint(role, "-", i), JetStream: js, Client: client.New(nc, ""), Handler: l, Workers: 8,
			Log: slog.New(slog.DiscardHandler),
		})
		l.agents.Go(func() {
			if err := a.Run(rest); err != nil {
				l.fail(fmt.Errorf("an agent ended: %w", err))
			}
		})
		l.agents.Go(func() {
			if err := store.StayWithMajority(rest, js, store.MajorityEvery, store.Majority); err != nil {
				l.fail(err)
			}
		})
	}
	t.Cleanup(func() {
		l.stopClients()
		l.stopAgents()
		l.wg.Wait()
		l.agents.Wait()
	})
	return l
}

// Work implements agent.Handler.
func (l *load) Work(context.Context, agent.Job) (instance.Result, error) {
	l.work.Add(1)
	return instance.Result{Status: instance.Success}, nil
}

// client opens an instance, adds notes to it, and goes on with another.
func (l *load) client(ctx context.Context, c *client.Client, dice *rand.Rand, i int) {
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("lap/%d/%d", i, n)
		l.send(ctx, c, name, &pb.Command{Action: &pb.Command_Open{Open: &pb.Open{Workflow: "lap", Issue: &pb.Issue{Title: "a lap"}}}}, "open", 0)
		for m := range 1 + dice.IntN(4) {
			l.send(ctx, c, name, &pb.Command{Action: &pb.Command_Note{Note: &pb.Note{Text: "well done"}}}, "note", m+1)
		}
		select { // or the clients would outrun the agents
		case <-time.After(time.Duration(dice.IntN(100)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// send sends one command until it is acknowledged or refused, and records the
// acknowledgement.
func (l *load) send(ctx context.Context, c *client.Client, name string, cmd *pb.Command, what string, n int) {
	cmd.Id, cmd.Instance = fmt.Sprintf("%s-%d", name, n), name
	for {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		reply, err := c.Do(try, what, cmd)
		cancel()
		switch {
		case err == nil:
			l.mu.Lock()
			l.acks[cmd.Id] = ack{name, reply.GetSeq()}
			l.mu.Unlock()
			l.acked.Add(1)
			return
		case !errors.Is(err, client.ErrUnavailable):
			l.fail(fmt.Errorf("%s: %w", cmd.Id, err))
			return
		}
		l.unknown.Add(1)
		if ctx.Err() != nil {
			return
		}
	}
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// awaitProgress returns when more further commands were acknowledged and as many
// jobs done.
func (l *load) awaitProgress(t *testing.T, when string, more int64) {
	t.Helper()
	acked, work := l.acked.Load()+more, l.work.Load()+more
	if !eventually(t.Context(), func(context.Context) bool { return l.acked.Load() >= acked && l.work.Load() >= work }) {
		l.cluster.fatalf(t, "%s: %d commands are acknowledged and %d pieces of work done, want %d and %d", when, l.acked.Load(), l.work.Load(),
			acked, work)
	}
}
