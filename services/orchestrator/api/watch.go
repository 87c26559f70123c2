package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const (
	// maxWatchWait bounds how long a watch waits for a commit.
	maxWatchWait = 2 * time.Second
	// watchPause lets commits of a busy log gather before a watch looks at them.
	watchPause = 5 * time.Millisecond
	// maxWatches bounds the watches that wait at a time, maxWatchesOf those of one account. The server
	// remembers nothing of a watch that has its reply: a slow watcher holds nothing.
	maxWatches   = 128
	maxWatchesOf = 16
)

// watches counts the watches in progress. It is safe for concurrent use.
type watches struct {
	mu  sync.Mutex
	all int
	of  map[access.Party]int
}

// begin adds a watch of a party, or returns a refusal if there are too many. The limit of one account does
// not hold for the orchestrator's own.
func (w *watches) begin(p access.Party) *pb.Refusal {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.all >= maxWatches:
		return unavailable("%d watches are in progress, and there may be no more", maxWatches)
	case p.Kind != access.Orchestrator && w.of[p] >= maxWatchesOf:
		return unavailable("%s has %d watches in progress, and may have no more", p, maxWatchesOf)
	}
	w.all++
	w.of[p]++
	return nil
}

func (w *watches) end(p access.Party) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	if w.of[p]--; w.of[p] == 0 {
		delete(w.of, p)
	}
}

// watchEndpoint returns the endpoint of watches. They wait on workers of their own, so that no command
// waits for one.
func (s *Server) watchEndpoint() endpoint {
	refused := func(no *pb.Refusal) proto.Message { return &pb.WatchReply{Refusal: no} }
	return endpoint{subject.Watch, must(subject.API(subject.Watch)), func(m micro.Request) {
		r, no := s.newRequest(m, subject.Watch, refused)
		if no == nil {
			no = s.watches.begin(r.party)
		}
		if no != nil {
			s.reply(r, time.Now(), nil, no)
			return
		}
		s.run(s.watchers, r, func(ctx context.Context) (proto.Message, *pb.Refusal) {
			defer s.watches.end(r.party)
			return s.watch(ctx, r)
		})
	}}
}

// watch replies with the commits after a sequence: those there are, else the next that come in time.
func (s *Server) watch(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.WatchRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	wait := time.Duration(q.GetWaitMs()) * time.Millisecond
	switch id := q.GetInstance(); {
	case id != "" && subject.CheckInstance(id) != nil:
		return nil, invalid("instance: %v", subject.CheckInstance(id))
	case wait > maxWatchWait:
		return nil, invalid("wait_ms is %d, want at most %d", q.GetWaitMs(), maxWatchWait.Milliseconds())
	}
	if q.GetNewest() {
		head, err := s.Store.Head(ctx)
		if err != nil {
			return nil, refusal(err)
		}
		return &pb.WatchReply{Next: head}, nil
	}
	w := watch{server: s, request: r, query: q, reply: &pb.WatchReply{Next: q.GetAfter()}}
	if err := w.await(ctx, wait); err != nil {
		return nil, refusal(err)
	}
	if w.found() || w.reply.Next > q.GetAfter() {
		if err := w.summarize(ctx); err != nil {
			return nil, refusal(err)
		}
		return w.reply, nil
	}
	head, err := s.Store.Head(ctx)
	switch {
	case err != nil:
		return nil, refusal(err)
	case q.GetAfter() > head: // a log that was exchanged, or cut
		return nil, invalid("after %d: the log ends at %d", q.GetAfter(), head)
	}
	return w.reply, nil
}

// watch is one request to watch.
type watch struct {
	server *Server
	request
	query  *pb.WatchRequest
	reply  *pb.WatchReply
	size   int  // bytes of the commits in reply
	looked bool // one has looked into the log
	// changed are the instances of the commits, if the watcher wants their summaries.
	changed map[string]bool
}

// maxSummaries bounds the summaries in a reply.
const maxSummaries = 500

// found reports whether the reply is to have anything.
func (w *watch) found() bool { return len(w.reply.Commits)+len(w.changed) > 0 }

// summarize adds the summaries of the instances that changed, as they are now.
func (w *watch) summarize(ctx context.Context) error {
	if len(w.changed) == 0 {
		return nil
	}
	if err := w.server.Engine.Reach(ctx, w.reply.Next); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(w.changed)) {
		in, ok := w.server.Engine.Known(id)
		if !ok { // it closed before the newest snapshot
			var err error
			if in, err = w.server.Engine.Get(ctx, id); err != nil {
				return err
			}
		}
		w.reply.Summaries = append(w.reply.Summaries, wire.Summary(in))
	}
	return nil
}

// await adds commits to the reply. It waits until there is one, for as long as the request may.
func (w *watch) await(ctx context.Context, atMost time.Duration) error {
	waiting, stop := context.WithTimeout(ctx, atMost)
	defer stop()
	defer context.AfterFunc(w.server.closing, stop)()
	look := w.all
	if w.query.GetInstance() != "" {
		look = w.one
	}
	for {
		position := w.server.Engine.Position()
		if position > w.reply.Next {
			if err := look(ctx); err != nil || w.found() {
				return err
			}
		}
		if w.server.Engine.Reach(waiting, max(position, w.query.GetAfter())+1) != nil {
			return nil // the time is over
		}
		select {
		case <-waiting.Done():
			return nil
		case <-time.After(watchPause):
		}
	}
}

// all adds the commits after reply.Next, as far as the page has room. They are from memory, or from the
// log for a watcher that is far behind.
func (w *watch) all(ctx context.Context) error {
	if some, ok := w.server.Engine.Recent(w.reply.Next); ok {
		for _, c := range some {
			if full, err := w.next(c); full || err != nil {
				return err
			}
		}
		return nil
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	err := w.server.Store.Read(reading, w.reply.Next+1, func(c eventstore.Commit) error {
		if full, err := w.next(c); full || err != nil {
			return errors.Join(errPageFull, err)
		}
		return reading.Err()
	}, stop)
	switch {
	case errors.Is(err, eventstore.ErrCorrupt):
		return err
	case errors.Is(err, errPageFull), reading.Err() != nil && ctx.Err() == nil:
		return nil
	}
	return err
}

// next adds the message at the next sequence, if it is a commit. full reports that there was no room.
func (w *watch) next(c eventstore.Commit) (full bool, err error) {
	if c.Foreign == nil {
		if full, err = w.add(c); full || err != nil {
			return full, err
		}
	}
	w.reply.Next = c.Seq
	return false, nil
}

// errPageFull ends the reading for one reply.
var errPageFull = errors.New("the page is full")

// one reads the commits of the instance, if it has any after those that the watcher has. Next is the
// newest of them, so that the next request can be answered without a reading of those before.
func (w *watch) one(ctx context.Context) error {
	id, after := w.query.GetInstance(), w.query.GetAfter()
	known, ok := w.server.Engine.Known(id) // an instance that closed before the newest snapshot may not be
	if ok && known.Seq <= after || !ok && w.looked {
		return nil
	}
	w.looked = true
	commits, _, err := w.server.Store.Page(ctx, id, eventstore.Part{After: after, Size: maxPage})
	if errors.Is(err, eventstore.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range commits {
		full, err := w.add(c)
		if full || err != nil {
			return err
		}
		w.reply.Next = c.Seq
	}
	return nil
}

// add adds a commit to the reply. full reports that there was no room for it.
func (w *watch) add(c eventstore.Commit) (full bool, err error) {
	if w.query.GetSummaries() {
		if !w.changed[c.Instance] && len(w.changed) == maxSummaries {
			return true, nil
		}
		if w.changed == nil {
			w.changed = map[string]bool{}
		}
		w.changed[c.Instance] = true
		if !w.query.GetRecords() {
			return false, nil
		}
	}
	record, err := wire.Record(c)
	if err != nil {
		return false, err
	}
	if w.size += w.request.size(record); w.size > maxPage && len(w.reply.Commits) > 0 {
		return true, nil // its summary may be in this reply and in the next
	}
	w.reply.Commits = append(w.reply.Commits, record)
	return false, nil
}

func unavailable(format string, args ...any) *pb.Refusal {
	no := invalid(format, args...)
	no.Code = CodeUnavailable
	return no
}
