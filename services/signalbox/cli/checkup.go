package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

const mayNot = "or this account may not ask: see the server's permissions"

func (s system) server(context.Context) finding {
	took, err := s.nats.RTT()
	if err != nil {
		return failing("", err.Error(), "the server accepted the connection and went silent")
	}
	return finding{"", fine, fmt.Sprintf("nats-server %s at %s, %s away", s.nats.ConnectedServerVersion(), s.nats.ConnectedUrlRedacted(), took.Round(10*time.Microsecond)), ""}
}

func (s system) jetStream(ctx context.Context) finding {
	js, err := jetstream.New(s.nats)
	if err != nil {
		return failing("", err.Error(), "")
	}
	if err := store.Majority(ctx, js); errors.Is(err, store.ErrNoMajority) {
		return failing("", err.Error(), "start the servers that are away: all goes on by itself when more than half are there")
	}
	info, err := js.AccountInfo(ctx)
	if err != nil {
		return failing("", err.Error(), "the server needs JetStream, with a store directory; "+mayNot)
	}
	return finding{"", fine, fmt.Sprintf("%s in %s", size(info.Store), view.Count(info.Streams, "stream")), ""}
}

func (s system) orchestrator(ctx context.Context) finding {
	reply, err := s.Definition(ctx, "")
	if err != nil {
		return failing("", "no orchestrator answers", "start `signalbox up` or the orchestrator, and look at what it logs")
	}
	return finding{"", fine, "answers; it knows " + strings.Join(reply.GetNames(), ", "), ""}
}

// Clocks may differ by as much as this before people, or leases, notice.
const (
	skewNoticed = time.Second
	skewHurts   = 10 * time.Second
)

// clock compares this machine's clock with the server's, which stamps the log.
func (s system) clock(ctx context.Context) finding {
	js, err := jetstream.New(s.nats)
	if err != nil {
		return failing("", err.Error(), "")
	}
	before := time.Now()
	stream, err := js.Stream(ctx, subject.EventStream)
	if err != nil {
		return finding{"", worry, "not compared: " + err.Error(), ""}
	}
	took := time.Since(before)
	skew := stream.CachedInfo().TimeStamp.Sub(before.Add(took / 2)).Abs()
	switch {
	case skew > skewHurts+took:
		return failing("", term.Duration(skew)+" off the server's", "set this machine's time: leases and time-outs go by it")
	case skew > skewNoticed+took:
		return finding{"", worry, term.Duration(skew) + " off the server's", "times in lists and tables are off by as much"}
	}
	return finding{"", fine, "agrees with the server's", ""}
}

// streams looks for everything the orchestrator makes.
func (e *examination) streams(ctx context.Context, s system) {
	for _, c := range []struct{ check, stream, advice string }{
		{"log", subject.EventStream, "it is the log; the orchestrator makes it when it starts for the first time"},
		{"dead letters", store.DeadStream, "the orchestrator makes it when it starts"},
		{"timers", subject.TimerStream, "the orchestrator makes it when it starts"},
		{"definitions", "KV_" + store.DefinitionBucket, "the orchestrator makes it when it starts"},
		{"objects", "OBJ_" + store.ObjectBucket, "the orchestrator makes it when it starts"},
	} {
		e.check(ctx, c.check, func(ctx context.Context) finding { return s.stream(ctx, c.stream, c.advice) })
	}
}

func (s system) stream(ctx context.Context, name, advice string) finding {
	js, err := jetstream.New(s.nats)
	if err != nil {
		return failing("", err.Error(), "")
	}
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return failing("", fmt.Sprintf("stream %s: %v", name, err), advice)
	}
	state := stream.CachedInfo().State
	detail := fmt.Sprintf("stream %s: %s, %s", name, view.Count(int(state.Msgs), "message"), size(state.Bytes))
	switch {
	case name == subject.EventStream && state.Msgs > 0 && state.Msgs != state.LastSeq-state.FirstSeq+1:
		return failing("", detail+", with holes", "the log is damaged: stop the orchestrators and restore it from a copy")
	case name == store.DeadStream && state.Msgs > 0:
		return finding{"", worry, detail, "this is work that was given up on; `signalbox ls --stuck` and `explain` say which"}
	}
	return finding{"", fine, detail, ""}
}

// roles looks whether every role that owns a state has its queue, and somebody
// who takes from it.
func (e *examination) roles(ctx context.Context, s system) {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	js, err := jetstream.New(s.nats)
	if err == nil {
		var roles []string
		if roles, err = s.roles(ctx); err == nil {
			for _, role := range roles {
				e.check(ctx, role, func(ctx context.Context) finding { return queue(ctx, js, role) })
			}
			return
		}
	}
	e.say(failing("roles", err.Error(), ""))
}

// roles are the owners in all lifecycles.
func (s system) roles(ctx context.Context) ([]string, error) {
	names, err := s.Definition(ctx, "")
	if err != nil {
		return nil, err
	}
	var roles []string
	for _, name := range names.GetNames() {
		reply, err := s.Definition(ctx, name)
		if err != nil {
			return nil, err
		}
		d, err := workflow.Load(name, reply.GetSource())
		if err != nil {
			return nil, err
		}
		for _, role := range d.Roles() {
			if !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
		}
	}
	return roles, nil
}

func queue(ctx context.Context, js jetstream.JetStream, role string) finding {
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return failing("", "no work queue: "+err.Error(), "the orchestrator makes it when it starts")
	}
	info := consumer.CachedInfo()
	idle := view.Count(info.NumWaiting, "agent") + " free"
	detail := fmt.Sprintf("%d waiting for an agent, %d under way, %s", info.NumPending, info.NumAckPending, idle)
	switch {
	case info.NumWaiting == 0 && info.NumAckPending == 0 && info.NumPending == 0:
		return finding{"", fine, "nobody works as " + role + ", and there is nothing to do", ""}
	case info.NumWaiting == 0 && info.NumAckPending == 0:
		return finding{"", worry, detail, "nobody works as " + role + ": start one, or give it a brain"}
	case info.NumRedelivered > 0:
		return finding{"", worry, fmt.Sprintf("%s, %d handed out more than once", detail, info.NumRedelivered), "agents died or gave work back: see what they log"}
	}
	return finding{"", fine, detail, ""}
}

// size is a number of bytes for people.
func size(n uint64) string {
	const unit = 1024
	value, suffix := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < unit {
			break
		}
		value, suffix = value/unit, next
	}
	if suffix == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, suffix)
}
