package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

const (
	namedLetters = 10          // dead letters whose instances are named
	slowServer   = time.Second // from which the way to NATS is called slow
)

// health answers how the system is, during one term.
type health struct {
	orchestrator
	host  *service.Host
	of    *engine.Engine
	since time.Time // start of the term
}

// checks returns the checks that the orchestrator makes itself, and each condition of its readiness.
func (h health) checks(ctx context.Context) []*pb.HealthCheck {
	all := []*pb.HealthCheck{h.active(), h.server(), h.stream(ctx), h.timers(ctx), h.dead(ctx)}
	ready := h.host.Health.Ready(ctx)
	known := map[string]string{"storage": h.room(), "settings": "the streams are as the orchestrator made them", "definitions": "each stored lifecycle can be loaded",
		"agents": "no work waits for a role without agents"}
	for name, detail := range known {
		if ready.Reasons[name] == "" && ready.Warnings[name] == "" {
			all = append(all, &pb.HealthCheck{Check: name, Status: api.OK, Detail: detail})
		}
	}
	for name, why := range ready.Warnings {
		all = append(all, judged(name, api.Warn, why))
	}
	for name, why := range ready.Reasons {
		all = append(all, judged(name, api.Fail, why))
	}
	return all
}

// judged returns a condition that does not hold. Its reason ends with the remedy, if there is one.
func judged(name, status, why string) *pb.HealthCheck {
	detail, advice := why, ""
	if i := strings.LastIndex(why, "; "); i > 0 {
		detail, advice = why[:i], why[i+2:]
	}
	return &pb.HealthCheck{Check: name, Status: status, Detail: detail, Advice: advice}
}

// active is the orchestrator that answers, and those that stand by.
func (h health) active() *pb.HealthCheck {
	c := &pb.HealthCheck{Check: "orchestrator", Status: api.OK, Since: timestamppb.New(h.since)}
	switch n := h.elector.StandBys(); {
	case h.AgentsEnd:
		c.Detail = "answers, in one process with all services"
	case !h.StandBy:
		c.Detail = "answers; it is started without --stand-by, so that others may answer as well"
	case n == 0:
		c.Detail, c.Advice = "one is active, and none stands by", "start another one on a second machine: it goes on when this one ends"
	default:
		c.Detail = fmt.Sprintf("one is active, and %d stand by", n)
	}
	return c
}

// server is the way to NATS.
func (h health) server() *pb.HealthCheck {
	nc := h.host.NATS
	took, err := nc.RTT()
	if err != nil {
		return judged("nats", api.Warn, err.Error())
	}
	c := &pb.HealthCheck{Check: "nats", Status: api.OK, Detail: fmt.Sprintf("nats-server %s, %s away",
		nc.ConnectedServerVersion(), took.Round(10*time.Microsecond))}
	if n := nc.Stats().Reconnects; n > 0 {
		c.Detail += fmt.Sprintf("; the connection was lost since the start, times: %d", n)
	}
	if took > slowServer {
		c.Status, c.Advice = api.Warn, "look at the load of the server and at the network"
	}
	return c
}

// stream is the log.
func (h health) stream(ctx context.Context) *pb.HealthCheck {
	s, err := h.js.Stream(ctx, subject.EventStream)
	if err != nil {
		return judged("log", api.Fail, err.Error())
	}
	state := s.CachedInfo().State
	c := &pb.HealthCheck{Check: "log", Status: api.OK, Detail: fmt.Sprintf("%d commits in %s, followed to %d", state.Msgs, mebibytes(state.Bytes), h.of.Position())}
	if state.Msgs > 0 {
		c.Since = timestamppb.New(state.LastTime)
	}
	switch n := h.strangers.seen(); {
	case state.Msgs > 0 && state.Msgs != state.LastSeq-state.FirstSeq+1:
		c.Status, c.Detail, c.Advice = api.Fail, c.Detail+", with holes", "the log is damaged: stop the orchestrators and restore it from a copy"
	case n > 0:
		c.Status, c.Detail, c.Advice = api.Warn, fmt.Sprintf("%s; %d messages in it are no commits, and set aside", c.Detail, n), "find who may publish on sb.evt.>"
	}
	return c
}

// timers are the deadlines that are armed, and those that nobody has handled yet.
func (h health) timers(ctx context.Context) *pb.HealthCheck {
	s, err := h.js.Stream(ctx, subject.TimerStream)
	if err != nil {
		return judged("timers", api.Fail, err.Error())
	}
	due, err := s.Consumer(ctx, subject.TimerConsumer)
	if err != nil {
		return judged("timers", api.Fail, err.Error())
	}
	info := due.CachedInfo()
	waiting := info.NumPending + uint64(max(info.NumAckPending, 0))
	armed := s.CachedInfo().State.Msgs
	c := &pb.HealthCheck{Check: "timers", Status: api.OK, Detail: fmt.Sprintf("deadlines ahead: %d", armed-min(waiting, armed))}
	if waiting > 0 {
		c.Detail += fmt.Sprintf("; due and not handled yet: %d", waiting)
	}
	if info.NumPending > uint64(timerWorkers) {
		c.Status, c.Advice = api.Warn, "after an outage this ends by itself; else look at the log of the orchestrator"
	}
	return c
}

// dead is the work that was given up on.
func (h health) dead(ctx context.Context) *pb.HealthCheck {
	s, err := h.js.Stream(ctx, store.DeadStream)
	if err != nil {
		return judged("dead letters", api.Fail, err.Error())
	}
	state := s.CachedInfo().State
	if state.Msgs == 0 {
		return &pb.HealthCheck{Check: "dead letters", Status: api.OK, Detail: "none"}
	}
	c := &pb.HealthCheck{Check: "dead letters", Status: api.Warn, Detail: fmt.Sprintf("work was given up on, %d in all", state.Msgs), Since: timestamppb.New(state.LastTime),
		Advice: "signalbox dead ls lists them; retry gives the work out once more"}
	letters, err := store.DeadLetters(ctx, h.js, namedLetters)
	if err != nil {
		return c
	}
	for _, l := range slices.Backward(letters) {
		if id := l.Event.Instance; id != "" && !slices.Contains(c.Instances, id) {
			c.Instances = append(c.Instances, id)
		}
	}
	return c
}

// room is the storage in words.
func (h health) room() string {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	if used := h.storage.last; used.Limit > 0 {
		return fmt.Sprintf("%s of the account's %s are used", mebibytes(used.Used), mebibytes(used.Limit))
	}
	return mebibytes(h.storage.last.Used) + " are used; the account has no limit"
}

func mebibytes(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
