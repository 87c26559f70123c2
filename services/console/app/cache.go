package app

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

const (
	maxWhole  = 2000             // instances that are kept whole
	maxStory  = 64               // instances whose history is kept
	pageSize  = 1000             // instances in a reply to list
	patience  = 5 * time.Second  // for one reply of the orchestrator
	checkedIn = 5 * time.Second  // how often the end of the log is asked for
	retryIn   = 5 * time.Second  // longest pause before the log is followed again
	staleIn   = 12 * time.Second // without a reply for so long the pages say so
)

// cache is the newest state of all instances. It is safe for concurrent use.
type cache struct {
	client *client.Client
	hub    *hub
	flow   *flow
	log    *slog.Logger
	wake   chan struct{} // an instance has changed

	mu      sync.Mutex
	rows    map[string]*row
	whole   map[string]view.Instance
	story   map[string]story
	defs    map[string]*workflow.Definition // by hash
	changed map[string]bool                 // to be read again
	seq     uint64                          // of the newest change that rows has
	loaded  bool                            // rows has all that are open
	heard   time.Time                       // when the orchestrator last replied
}

// story is the history of an instance, up to its commit seq.
type story struct {
	seq     uint64
	records []*pb.Record
}

func newCache(c *client.Client, h *hub, log *slog.Logger) *cache {
	return &cache{client: c, hub: h, flow: newFlow(), log: log, wake: make(chan struct{}, 1), rows: map[string]*row{}, whole: map[string]view.Instance{},
		story: map[string]story{}, defs: map[string]*workflow.Definition{}, changed: map[string]bool{}, heard: time.Now()}
}

// follow loads all instances and follows the log until ctx ends.
func (c *cache) follow(ctx context.Context) error {
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.load(ctx) }, // it fails when ctx ends
		backoff.WithBackOff(pacing.Backoff(time.Second, retryIn)), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) {
			c.log.Warn("the log is not followed; it is tried again", "error", err)
		}))
	return nil
}

// load loads the open instances, then the closed ones, and follows the log from where it ended
// before.
func (c *cache) load(ctx context.Context) error {
	newest, err := c.client.Newest(ctx)
	if err == nil {
		err = c.list(ctx, &pb.ListRequest{Limit: pageSize})
	}
	if err == nil {
		c.mu.Lock()
		c.loaded, c.seq, c.heard = true, max(c.seq, newest), time.Now()
		c.mu.Unlock()
		c.hub.notify("")
		err = c.list(ctx, &pb.ListRequest{Limit: pageSize, All: true})
	}
	if err == nil {
		c.hub.notify("")
		err = c.client.Watch(ctx, "", max(newest, maxPast)-maxPast, func(e client.LogEntry) error {
			c.count(e)
			if e.Commit.Seq > newest {
				c.touch(e.Instance)
			}
			return nil
		})
	}
	return err
}

func (c *cache) list(ctx context.Context, q *pb.ListRequest) error {
	found, err := c.client.List(ctx, q)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range view.Summaries(found) {
		if have := c.rows[s.Instance]; have == nil || have.Seq < s.Seq {
			r := rowOf(s)
			c.rows[s.Instance] = &r
		}
	}
	return nil
}

// count counts the moves of a commit.
func (c *cache) count(e client.LogEntry) {
	workflow := ""
	for _, event := range e.Events {
		if opened, ok := event.(instance.Opened); ok {
			workflow = opened.Workflow
		}
	}
	c.mu.Lock()
	if have := c.rows[e.Instance]; have != nil {
		workflow = have.Workflow
	}
	c.mu.Unlock()
	c.flow.add(workflow, e)
}

// touch has an instance read again.
func (c *cache) touch(id string) {
	c.mu.Lock()
	c.changed[id] = true
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// refresh reads changed instances, and asks for the end of the log now and then, until ctx ends.
func (c *cache) refresh(ctx context.Context) error {
	check := time.NewTicker(checkedIn)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-check.C:
			c.check(ctx)
		case <-c.wake:
			c.readChanged(ctx)
		}
	}
}

// check asks the orchestrator for a reply. Pages are read again when the first one is missing,
// and when there is one again.
func (c *cache) check(ctx context.Context) {
	_, before := c.stale()
	asking, cancel := context.WithTimeout(ctx, checkedIn/2)
	defer cancel()
	if _, err := c.client.Newest(asking); err == nil {
		c.answered()
	}
	if _, now := c.stale(); now != before {
		c.hub.notify("")
	}
	c.mu.Lock()
	left := len(c.changed)
	c.mu.Unlock()
	if left > 0 {
		c.readChanged(ctx)
	}
}

func (c *cache) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = time.Now()
}

// stale returns when the orchestrator last replied, and whether that is too long ago.
func (c *cache) stale() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard, time.Since(c.heard) > staleIn
}

// readChanged reads the instances that changed. Those that cannot be read are read later.
func (c *cache) readChanged(ctx context.Context) {
	c.mu.Lock()
	changed := slices.Sorted(maps.Keys(c.changed))
	clear(c.changed)
	c.mu.Unlock()
	for i, id := range changed {
		if _, err := c.read(ctx, id); err != nil {
			if no := new(instance.Refusal); errors.As(err, &no) {
				c.log.Warn("an instance cannot be read", "instance", id, "error", err)
				continue
			}
			c.mu.Lock()
			for _, left := range changed[i:] {
				c.changed[left] = true
			}
			c.mu.Unlock()
			return
		}
		c.hub.notify(id)
	}
}

// read reads an instance from the orchestrator.
func (c *cache) read(ctx context.Context, id string) (view.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p, err := c.client.Get(ctx, id)
	if err != nil {
		return view.Instance{}, err
	}
	in := view.Of(p)
	c.put(in)
	return in, nil
}

// put keeps an instance, unless a newer state of it is kept.
func (c *cache) put(in view.Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = time.Now()
	if have := c.rows[in.Instance]; have != nil && have.Seq > in.Seq {
		return
	}
	c.seq = max(c.seq, in.Seq)
	r := rowOfWhole(in)
	c.rows[in.Instance] = &r
	bound(c.whole, maxWhole)
	c.whole[in.Instance] = in
}

// bound removes any entry of a map that is full.
func bound[V any](m map[string]V, most int) {
	for key := range m {
		if len(m) < most {
			return
		}
		delete(m, key)
	}
}

// get returns an instance in its newest state.
func (c *cache) get(ctx context.Context, id string) (view.Instance, error) {
	c.mu.Lock()
	in, ok := c.whole[id]
	ok = ok && in.Seq == c.rows[id].Seq && !c.changed[id] // each that is whole has a row
	c.mu.Unlock()
	if ok {
		return in, nil
	}
	return c.read(ctx, id)
}

// records returns the history of an instance up to its present state.
func (c *cache) records(ctx context.Context, in view.Instance) ([]*pb.Record, error) {
	c.mu.Lock()
	have := c.story[in.Instance]
	c.mu.Unlock()
	if have.seq >= in.Seq {
		return have.records, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	more, err := c.client.History(ctx, in.Instance, have.seq)
	if err != nil {
		return nil, err
	}
	have.records = slices.Concat(have.records, more)
	if n := len(have.records); n > 0 {
		have.seq = have.records[n-1].GetSeq()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	bound(c.story, maxStory)
	c.story[in.Instance] = have
	return have.records, nil
}

// definition returns the lifecycle that an instance goes by.
func (c *cache) definition(ctx context.Context, in view.Instance) (*workflow.Definition, error) {
	c.mu.Lock()
	def := c.defs[in.Definition]
	c.mu.Unlock()
	if def != nil {
		return def, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := c.client.Definition(ctx, in.Definition)
	if err != nil {
		return nil, err
	}
	return c.keep(in.Workflow, reply)
}

// keep reads a definition and keeps it.
func (c *cache) keep(name string, reply *pb.DefinitionReply) (*workflow.Definition, error) {
	def, err := workflow.Load(name, reply.GetSource())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	bound(c.defs, maxStory)
	c.defs[reply.GetHash()] = def
	return def, nil
}

// named returns the newest definition of a lifecycle, and the names of all.
func (c *cache) named(ctx context.Context, name string) (def *workflow.Definition, all []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := c.client.Definition(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	def = c.defs[reply.GetHash()]
	c.mu.Unlock()
	if def == nil {
		if def, err = c.keep(name, reply); err != nil {
			return nil, nil, err
		}
	}
	names, err := c.client.Definition(ctx, "")
	return def, names.GetNames(), err
}

// snapshot is what a page is made of: a copy of all rows, as of a commit.
type snapshot struct {
	rows   []*row
	seq    uint64
	loaded bool
}

func (c *cache) snapshot() snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return snapshot{slices.Collect(maps.Values(c.rows)), c.seq, c.loaded}
}

// newest returns the sequence of the newest change: of an instance, or, for "", of all.
func (c *cache) newest(id string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.rows[id]; have != nil {
		return have.Seq
	}
	return c.seq
}
