package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// DeadLetter is work that was given up on.
type DeadLetter struct {
	Number     uint64 // its sequence in DeadStream
	Role       string // whose work it is
	Refused    bool   // an agent refused it for good; else it was delivered too often
	Reason     string // of a refusal; empty: none was given
	Deliveries int
	At         time.Time
	Work       uint64        // the commit that made the work
	Event      subject.Event // its subject; zero: it cannot be read
}

// MaxLetters bounds how many letters are read at once.
const MaxLetters = 1000

// DeadLetters returns the newest dead letters, those of the last so many numbers, the oldest of them first.
func DeadLetters(ctx context.Context, js jetstream.JetStream, most uint64) (all []DeadLetter, err error) {
	dead, err := js.Stream(ctx, DeadStream)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", DeadStream, err)
	}
	state := dead.CachedInfo().State
	next := state.FirstSeq
	if most = min(most, MaxLetters); state.LastSeq > most {
		next = max(next, state.LastSeq-most+1)
	}
	for next <= state.LastSeq {
		m, err := dead.GetMsg(ctx, next, jetstream.WithGetMsgSubject(">")) // the next that there is
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", DeadStream, err)
		}
		next = m.Sequence + 1
		letter, err := readLetter(ctx, js, m)
		if err != nil {
			return nil, err
		}
		all = append(all, letter)
	}
	return all, nil
}

// readLetter reads a dead letter, and what the log says of its work.
func readLetter(ctx context.Context, js jetstream.JetStream, m *jetstream.RawStreamMsg) (DeadLetter, error) {
	var advisory struct {
		Seq        uint64 `json:"stream_seq"`
		Deliveries int    `json:"deliveries"`
		Reason     string `json:"reason"`
	}
	role, refused, err := subject.ParseDead(m.Subject)
	if err != nil || json.Unmarshal(m.Data, &advisory) != nil {
		return DeadLetter{Number: m.Sequence, At: m.Time, Reason: "it cannot be read"}, nil
	}
	l := DeadLetter{Number: m.Sequence, Role: role, Refused: refused, Reason: advisory.Reason, Deliveries: advisory.Deliveries, At: m.Time,
		Work: advisory.Seq}
	log, err := js.Stream(ctx, subject.EventStream)
	if err != nil {
		return l, fmt.Errorf("stream %s: %w", subject.EventStream, err)
	}
	commit, err := log.GetMsg(ctx, l.Work)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("sequence %d: %w", l.Work, err)
	}
	l.Event, _ = subject.ParseEvent(commit.Subject) // else it is no commit of ours, and of no instance
	return l, nil
}

// DropDeadLetter deletes a dead letter. The log is not touched.
func DropDeadLetter(ctx context.Context, js jetstream.JetStream, number uint64) error {
	dead, err := js.Stream(ctx, DeadStream)
	if err != nil {
		return fmt.Errorf("stream %s: %w", DeadStream, err)
	}
	return dead.DeleteMsg(ctx, number)
}
