package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// LogEntry is one commit of the log, decoded, with what its subject says.
type LogEntry struct {
	subject.Event
	instance.Commit
}

// ErrStopWatch is returned by Watch's callback to end the Watch without an error.
var ErrStopWatch = errors.New("seen enough")

// watchWait is how long the orchestrator waits for a commit before it replies that there is none, in
// milliseconds. It is shorter than quickTry.
const watchWait = 1000

// Watch calls f, from the caller's goroutine, for each commit after the given sequence: those of one
// instance, or of all if id is empty. It returns when ctx ends, or f's error, if that is not ErrStopWatch.
//
// It asks the orchestrator, again and again from where it is. So it goes on when the server or the
// orchestrator is replaced, misses none and repeats none.
func (c *Client) Watch(ctx context.Context, id string, after uint64, f func(LogEntry) error) error {
	for {
		reply, err := c.watch(ctx, &pb.WatchRequest{Instance: id, After: after, WaitMs: watchWait})
		if err != nil {
			return err
		}
		for _, r := range reply.GetCommits() {
			if ctx.Err() != nil {
				return fmt.Errorf("watch: %w", ctx.Err())
			}
			switch err := f(logEntry(r)); {
			case errors.Is(err, ErrStopWatch):
				return nil
			case err != nil:
				return err
			}
		}
		after = reply.GetNext()
	}
}

func logEntry(r *pb.Record) LogEntry {
	return LogEntry{subject.Event{Workflow: r.GetWorkflow(), State: r.GetState(), Instance: r.GetInstance(), Wakes: r.GetWakes()}, wire.Recorded(r)}
}

// Change is the news of a log.
type Change struct {
	Commits   []LogEntry
	Summaries []*pb.Summary // of the instances that they are of, each once, as it is now
	Seq       uint64        // up to here the news is complete
}

// Follow calls f, from the caller's goroutine, with what changed after the given sequence: at once if something did, and about once
// a second if nothing does. It returns when ctx ends, or f's error, if that is not ErrStopWatch.
func (c *Client) Follow(ctx context.Context, after uint64, f func(Change) error) error {
	for {
		reply, err := c.watch(ctx, &pb.WatchRequest{After: after, WaitMs: watchWait, Summaries: true, Records: true})
		if err != nil {
			return err
		}
		after = reply.GetNext()
		change := Change{Summaries: reply.GetSummaries(), Seq: after}
		for _, r := range reply.GetCommits() {
			change.Commits = append(change.Commits, logEntry(r))
		}
		switch err := f(change); {
		case errors.Is(err, ErrStopWatch):
			return nil
		case err != nil:
			return err
		}
	}
}

// Newest returns the sequence at which the log ends now, for Watch.
func (c *Client) Newest(ctx context.Context) (uint64, error) {
	reply, err := c.watch(ctx, &pb.WatchRequest{Newest: true})
	return reply.GetNext(), err
}

func (c *Client) watch(ctx context.Context, q *pb.WatchRequest) (*pb.WatchReply, error) {
	reply := new(pb.WatchReply)
	err := c.query(ctx, subject.Watch, q.GetInstance(), q, reply)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("watch: %w", errors.Join(ctx.Err(), err))
	case errors.As(err, new(*instance.Refusal)):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("watch: %w", err)
	}
	return reply, nil
}

// IsCommit reports whether a message of the log is a commit, by its headers. A message of another program
// is none; the orchestrator sets it aside and logs it.
func IsCommit(h nats.Header) bool { return h.Get("Sb-Chain") != "" }
