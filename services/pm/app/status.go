package app

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const (
	statusesAtOnce = 256              // commits that are read together
	statusIdle     = 10 * time.Second // of one request for more
	statusWithin   = time.Minute      // for one issue
	// statusOld is how long after its end an instance gets no comment that it did not have.
	statusOld = 24 * time.Hour
	// statusUrgent divides the interval of writes where people have to know at once.
	statusUrgent = 10
)

// statuses shows on its issue how each instance stands: by one comment that is edited, and
// by labels. It may repeat a write, which follows from the instance as it is.
//
// A commit is acknowledged when what it changed is shown, or a newer commit of the same
// instance is there to be shown. One goroutine uses it.
type statuses struct {
	*handler
	client  *client.Client
	every   time.Duration // between two writes on an issue while the work moves
	comment bool
	labels  bool

	ackWait     time.Duration // after which a commit is delivered again, unless it is kept
	extended    time.Time
	due         map[string]*change // by instance
	shown       map[string]*shown  // open instances
	definitions map[string]*workflow.Definition
}

// change is a commit that is not shown yet.
type change struct {
	newest jetstream.Msg
	at     time.Time // when it is shown
}

// shown is what this process has shown of an instance.
type shown struct {
	text    string
	comment int64 // its id
	at      time.Time
	label   string
	entered uint64 // the state in which the label was set
	moves   []rules.Move
	rest    instance.Rest
	read    uint64 // the commit up to which moves and rest were read
}

func newStatuses(h *handler, c *client.Client) *statuses {
	return &statuses{handler: h, client: c, due: map[string]*change{}, shown: map[string]*shown{}, definitions: map[string]*workflow.Definition{}}
}

// run shows how instances stand until ctx ends. The next process shows the rest.
func (s *statuses) run(ctx context.Context, js jetstream.JetStream) error {
	defer func() {
		for _, c := range s.due {
			_ = c.newest.Nak() // else it is delivered again later
		}
	}()
	slow := pacing.Backoff(time.Second, time.Minute)
	consumer, err := backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		return js.Consumer(ctx, subject.EventStream, subject.Statuses)
	}, backoff.WithMaxElapsedTime(0), backoff.WithBackOff(slow), backoff.WithNotify(func(err error, _ time.Duration) {
		s.log.Warn("the issues do not show how they stand: the queue of commits is not found; is the orchestrator of this version, "+
			"and NATS configured with its `signalbox auth`?", "queue", subject.Statuses, "error", err)
	}))
	if err != nil {
		return nil // stopped before there was anything to do
	}
	s.ackWait = consumer.CachedInfo().Config.AckWait
	for ctx.Err() == nil {
		if err := s.read(ctx, consumer); err != nil && ctx.Err() == nil {
			s.log.Warn("cannot read how issues stand; trying again", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
		for id, c := range s.due {
			if s.extendAckWait(); ctx.Err() == nil && !s.now().Before(c.at) {
				s.publish(ctx, id, c)
			}
		}
	}
	return nil
}

// extendAckWait keeps the commits that are due later from redelivery to other processes.
func (s *statuses) extendAckWait() {
	if s.now().Sub(s.extended) < s.ackWait/3 {
		return
	}
	s.extended = s.now()
	for _, c := range s.due {
		_ = c.newest.InProgress() // else it is delivered again
	}
}

// read takes the commits that there are. It waits for one until something is due.
func (s *statuses) read(ctx context.Context, consumer jetstream.Consumer) error {
	wait := min(statusIdle, s.ackWait/3)
	for _, c := range s.due {
		wait = min(wait, c.at.Sub(s.now()))
	}
	if wait > 0 {
		within, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		m, err := consumer.Next(jetstream.FetchContext(within))
		if err != nil {
			if within.Err() != nil || errors.Is(err, nats.ErrTimeout) {
				return nil
			}
			return err
		}
		s.enqueue(m)
	}
	more, err := consumer.FetchNoWait(statusesAtOnce)
	if err != nil {
		return err
	}
	for m := range more.Messages() {
		s.enqueue(m)
	}
	return nil
}

// enqueue notes when the change of a commit is shown. The commit before it of the same
// instance needs not be any more.
func (s *statuses) enqueue(m jetstream.Msg) {
	after, err := subject.ParseEvent(m.Subject())
	if err != nil || !client.IsCommit(m.Headers()) {
		_ = m.Ack() // it changed nothing
		return
	}
	if meta, err := m.Metadata(); err != nil || meta.NumDelivered > 1 {
		s.forget(after.Instance) // another process may have written since
	}
	at := s.now()
	if last := s.shown[after.Instance]; last != nil {
		pause := s.every
		if urgent(m.Data()) {
			pause /= statusUrgent
		}
		if next := last.at.Add(pause); next.After(at) {
			at = next
		}
	}
	if c := s.due[after.Instance]; c != nil {
		_ = c.newest.Ack()
		if c.at.Before(at) {
			at = c.at
		}
	}
	s.due[after.Instance] = &change{m, at}
}

// forget drops what was shown of an instance, but for when that was tried.
func (s *statuses) forget(id string) {
	if last := s.shown[id]; last != nil {
		s.shown[id] = &shown{at: last.at}
	}
}

// urgent reports whether people are waited for since a commit, or the instance has ended,
// or goes on after that.
func urgent(data []byte) bool {
	p := new(pb.Commit)
	if proto.Unmarshal(data, p) != nil {
		return false
	}
	for _, e := range wire.ToEvents(p) {
		switch e := e.(type) {
		case instance.Moved:
			if e.Kind != workflow.Work {
				return true
			}
		case instance.Escalated, instance.Resolved, instance.Paused, instance.Resumed, instance.CancelledBy, instance.Reopened:
			return true
		}
	}
	return false
}

// publish shows how an instance stands, and acknowledges the commit. It gives the commit
// back for later if that fails.
func (s *statuses) publish(ctx context.Context, id string, c *change) {
	within, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	newest, err := s.show(within, id)
	switch {
	case ctx.Err() != nil:
		return // run gives it back
	case err != nil:
		delete(s.due, id)
		s.forget(id)
		if lasting(err) {
			s.log.Warn("the issue does not show how it stands", "instance", id, "error", err)
			_ = c.newest.Ack()
			return
		}
		wait := s.later(c.newest)
		if limit := new(forge.RateLimit); errors.As(err, &limit) {
			wait = max(wait, limit.Until.Sub(s.now()))
		}
		s.log.Warn("the issue does not show yet how it stands", "instance", id, "error", err, "again_in", wait)
		_ = c.newest.NakWithDelay(wait)
	case newest:
		delete(s.due, id)
		_ = c.newest.Ack()
	default: // it went on meanwhile, and another process may have shown that already
		c.at = s.now().Add(s.every / statusUrgent)
	}
}

// later returns the delay before the next try: every, twice that and so on to 5 minutes.
func (s *statuses) later(m jetstream.Msg) time.Duration {
	tries := uint64(1)
	if meta, err := m.Metadata(); err == nil {
		tries = meta.NumDelivered
	}
	return min(s.every<<min(tries-1, 10), max(s.every, 5*time.Minute))
}

// lasting reports whether the forge would refuse the same again: the issue is locked,
// deleted or transferred.
func lasting(err error) bool {
	return errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid) ||
		errors.Is(err, forgeside.ErrRepository) || errors.As(err, new(*outbound.Refusal)) || errors.As(err, new(*instance.Refusal))
}

// show writes on the issue how the instance stands, if that is not there. newest reports
// that the instance has not gone on meanwhile.
func (s *statuses) show(ctx context.Context, id string) (newest bool, err error) {
	in, err := s.client.Get(ctx, id)
	if err != nil {
		return false, err
	}
	last := s.shown[id]
	issue := wire.ToIssue(in.GetIssue())
	old := in.GetClosed() != "" && last == nil && s.now().Sub(in.GetUpdatedAt().AsTime()) > statusOld
	// An issue has one status: that of the instance that was opened for it.
	if issue.Number == 0 || in.GetParent() != "" || old {
		return true, nil
	}
	if err := s.gate.Repos.Check(issue.Repo); err != nil {
		return false, err
	}
	if last == nil {
		last = new(shown)
	}
	if s.shown[id] = last; in.GetClosed() != "" {
		delete(s.shown, id)
	}
	stands, err := s.statusOf(ctx, in, last)
	if err != nil {
		return false, err
	}
	before, wrote := last.at, false
	last.at = s.now() // also of what fails
	if text := stands.Text(); s.comment && text != last.text {
		c, err := s.keep(ctx, issue, last.comment, stands)
		if err != nil {
			return false, err
		}
		last.text, last.comment, wrote = text, c.ID, true
	}
	if s.labels && (last.entered != in.GetEntered() || last.label != labelOf(stands.Phase)) {
		if err := s.label(ctx, issue, labelOf(stands.Phase)); err != nil {
			return false, err
		}
		last.label, last.entered, wrote = labelOf(stands.Phase), in.GetEntered(), true
	}
	if !wrote {
		last.at = before
		return true, nil
	}
	now, err := s.client.Get(ctx, id)
	return now.GetSeq() == in.GetSeq(), err
}

// statusOf returns how the instance stands, with the moves that last does not have yet.
func (s *statuses) statusOf(ctx context.Context, in *pb.Instance, last *shown) (rules.Status, error) {
	commits, err := s.client.History(ctx, in.GetInstance(), last.read)
	if err != nil {
		return rules.Status{}, err
	}
	for len(commits) > 0 && commits[len(commits)-1].GetSeq() > in.GetSeq() { // it went on meanwhile
		commits = commits[:len(commits)-1]
	}
	last.moves, last.rest, last.read = movesOf(last.moves, commits), restOf(last.rest, commits), in.GetSeq()
	def, known := s.definitions[in.GetDefinition()]
	if !known {
		if reply, err := s.client.Definition(ctx, in.GetDefinition()); err == nil {
			def, _ = workflow.Load(in.GetWorkflow(), reply.GetSource())
			s.definitions[in.GetDefinition()] = def // nil: it cannot be read, and is done without
		}
	}
	return statusOf(in, def, last.moves, last.rest), nil
}

// keep has the comment show the status of the instance. Texts that may not leave are left out.
func (s *statuses) keep(ctx context.Context, issue instance.Issue, known int64, stands rules.Status) (forge.Comment, error) {
	on := struct {
		forge.Reader
		forge.Writer
	}{s.reader, s.writer}
	marker := rules.Marker(stands.Instance, rules.StatusKey)
	c, err := forge.Keep(ctx, on, issue.Repo, issue.Number, known, marker, stands.Text())
	if errors.As(err, new(*outbound.Refusal)) {
		return forge.Keep(ctx, on, issue.Repo, issue.Number, known, marker, stands.Bare().Text())
	}
	return c, err
}
