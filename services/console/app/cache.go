package app

import (
	"context"
	"errors"
	"log/slog"
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
	maxClosed = 20_000           // instances that are listed for those that have closed
	checkedIn = 2 * time.Second  // how often the age of the last reply is looked at
	retryIn   = 5 * time.Second  // longest pause before the log is followed again
	staleIn   = 12 * time.Second // without a reply for so long the pages say so
)

// cache is the newest state of all instances. It is safe for concurrent use.
type cache struct {
	client *client.Client
	hub    *hub
	flow   *flow
	log    *slog.Logger

	mu     sync.Mutex
	rows   map[string]*row
	all    []*row // the rows, each at its place
	index  index  // of the rows
	whole  map[string]view.Instance
	story  map[string]story
	defs   map[string]*workflow.Definition // by hash
	seq    uint64                          // of the newest change that rows has
	loaded bool                            // rows has all that are open
	waits  int                             // rows that wait for people
	heard  time.Time                       // when the orchestrator last replied
}

// story is the history of an instance, up to its commit seq.
type story struct {
	seq     uint64
	records []*pb.Record
}

func newCache(c *client.Client, h *hub, log *slog.Logger) *cache {
	return &cache{client: c, hub: h, flow: newFlow(), log: log, rows: map[string]*row{}, whole: map[string]view.Instance{},
		story: map[string]story{}, defs: map[string]*workflow.Definition{}, heard: time.Now()}
}

// follow loads the instances and follows the log until ctx ends.
func (c *cache) follow(ctx context.Context) error {
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.load(ctx) }, // it fails when ctx ends
		backoff.WithBackOff(pacing.Backoff(time.Second, retryIn)), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) {
			c.log.Warn("the log is not followed; it is tried again", "error", err)
		}))
	return nil
}

// load loads the open instances, then closed ones, and follows the log from there on. A cache that has them goes on where it was,
// unless the log is another.
func (c *cache) load(ctx context.Context) error {
	c.mu.Lock()
	after, loaded := c.seq, c.loaded
	c.mu.Unlock()
	if !loaded {
		newest, err := c.client.Newest(ctx)
		if err != nil {
			return err
		}
		if err := c.list(ctx, newest); err != nil {
			return err
		}
		after = max(newest, maxPast) - maxPast
	}
	err := c.client.Follow(ctx, after, func(news client.Change) error { c.take(news); return nil })
	if no := new(instance.Refusal); errors.As(err, &no) { // the log was exchanged or cut
		c.mu.Lock()
		c.rows, c.all, c.index, c.waits, c.loaded, c.seq = map[string]*row{}, nil, index{}, 0, false, 0
		clear(c.whole)
		clear(c.story)
		c.mu.Unlock()
	}
	return err
}

// list reads the open instances, then closed ones, no more than maxClosed. newest is the end of the log before.
func (c *cache) list(ctx context.Context, newest uint64) error {
	for _, q := range []*pb.ListRequest{{Limit: pageSize}, {Limit: pageSize, All: true}} {
		for read := 0; !q.GetAll() || read < maxClosed; read += pageSize {
			reply, err := c.client.ListPage(ctx, q)
			if err != nil {
				return err
			}
			c.mu.Lock()
			for _, s := range reply.GetInstances() {
				c.set(rowOf(s))
			}
			c.mu.Unlock()
			if q.After = reply.GetNext(); q.GetAfter() == "" {
				break
			}
		}
		c.mu.Lock()
		c.loaded, c.seq, c.heard = true, max(c.seq, newest), time.Now()
		c.mu.Unlock()
		c.hub.notify("")
	}
	return nil
}

// set keeps a row, unless a newer one is kept. c.mu is held.
func (c *cache) set(r row) {
	have := c.rows[r.ID]
	if have != nil && have.Seq > r.Seq {
		return
	}
	r.low = r.text()
	if have != nil {
		c.index.add(have, -1)
	}
	c.index.add(&r, 1)
	if have != nil && have.Waits {
		c.waits--
	}
	if r.Waits {
		c.waits++
	}
	if have != nil {
		r.at = have.at
		c.all[r.at] = &r
	} else {
		r.at = len(c.all)
		c.all = append(c.all, &r)
	}
	c.rows[r.ID] = &r
	c.seq = max(c.seq, r.Seq)
}

// take takes the news of the log, and marks the pages that show it.
func (c *cache) take(news client.Change) {
	c.mu.Lock()
	back := time.Since(c.heard) > staleIn
	c.heard = time.Now()
	for _, s := range news.Summaries {
		c.set(rowOf(s))
	}
	c.seq = max(c.seq, news.Seq)
	c.mu.Unlock()
	for _, e := range news.Commits {
		c.count(e)
	}
	for _, s := range news.Summaries {
		c.hub.notify(s.GetInstance())
	}
	if back {
		c.hub.notify("")
	}
}

// count counts the moves of a commit.
func (c *cache) count(e client.LogEntry) {
	c.mu.Lock()
	workflow := ""
	if have := c.rows[e.Instance]; have != nil {
		workflow = have.Workflow
	}
	c.mu.Unlock()
	c.flow.add(workflow, e)
}

// refresh has the pages read again when the orchestrator has not answered for long, until ctx ends. News ends that state.
func (c *cache) refresh(ctx context.Context) error {
	check := time.NewTicker(checkedIn)
	defer check.Stop()
	before := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-check.C:
			_, now := c.stale()
			if now && !before {
				c.hub.notify("")
			}
			before = now
		}
	}
}

// stale returns when the orchestrator last replied, and whether that is too long ago.
func (c *cache) stale() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard, time.Since(c.heard) > staleIn
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
	c.set(rowOfWhole(in))
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
	have := c.rows[id]
	ok = ok && have != nil && in.Seq == have.Seq
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
	offered [2]choices // of open rows, and of closed ones
	rows    []*row
	seq     uint64
	waits   int
	loaded  bool
}

func (c *cache) snapshot() snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return snapshot{[2]choices{c.index.choices(false), c.index.choices(true)}, slices.Clone(c.all), c.seq, c.waits, c.loaded}
}

// choices returns what the board offers of open rows or of closed ones.
func (s snapshot) choices(closed bool) choices { return s.offered[part(closed)] }

// waiting counts the instances that wait for people.
func (c *cache) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits
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
