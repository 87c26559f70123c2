package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// maxStaleness is how long a server of a cluster may answer for less than the others have.
// It led and was cut off, or it is back and catches up.
const maxStaleness = 30 * time.Second

// checkLog checks that the stream is the log that the watermark was taken of, and that no
// commit is missing. There must be at least as many as the watermark says. It returns the
// last sequence. In a cluster one answer that this is not so proves nothing: it checks
// again until maxStaleness, or ctx, ends.
func (s *Store) checkLog(ctx context.Context, least uint64) (uint64, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for end := time.Now().Add(maxStaleness); ; {
		last, err := once(ctx, s.config.Timeout, s.checkOnce)
		if err == nil && last < least {
			err = fmt.Errorf("%w: it ends at %d, want at least %d", eventstore.ErrCorrupt, last, least)
		}
		if !s.replicated || !errors.Is(err, eventstore.ErrCorrupt) || time.Now().After(end) {
			return last, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return last, err
		}
	}
}

// checkStreamConfig returns an error unless a stream with configuration c can hold
// the log: it must never forget a commit or give a stale answer.
func checkStreamConfig(c jetstream.StreamConfig) error {
	for _, rule := range []struct {
		want string
		ok   bool
	}{
		{"metadata " + identity, c.Metadata[identity] != ""},
		{"a restore that has ended: run it again", c.Metadata[restoring] == ""},
		{"subjects [" + subject.Events + "]", slices.Equal(c.Subjects, []string{subject.Events})},
		{"limits retention", c.Retention == jetstream.LimitsPolicy},
		{"file storage", c.Storage == jetstream.FileStorage},
		{"deny_delete", c.DenyDelete},
		{"deny_purge", c.DenyPurge},
		{"no limit of messages", c.MaxMsgs <= 0 && c.MaxMsgsPerSubject <= 0},
		{"no limit of bytes", c.MaxBytes <= 0},
		{"no limit of age", c.MaxAge == 0 && !c.AllowMsgTTL},
		{"no rollup", !c.AllowRollup},
		{"no direct gets", !c.AllowDirect},
	} {
		if !rule.ok {
			return fmt.Errorf("stream %s cannot hold the log: want %s", subject.EventStream, rule.want)
		}
	}
	return nil
}

// checkOnce is one try of checkLog.
func (s *Store) checkOnce(ctx context.Context) (uint64, error) {
	want := s.tracker.current() // first: the log grows meanwhile
	info, err := s.stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, fmt.Errorf("%w: stream %s is gone, want %s (%s)", eventstore.ErrCorrupt, subject.EventStream, want, s.tracker.store)
	}
	if err != nil {
		return 0, fmt.Errorf("look at stream %s: %w", subject.EventStream, err)
	}
	if err := checkContiguous(info.State); err != nil {
		return 0, err
	}
	if err := want.check(markOf(info)); err != nil {
		return 0, fmt.Errorf("%w (%s)", err, s.tracker.store)
	}
	last := info.State.LastSeq
	if last > 0 {
		// The state may count a message that cannot be read. One within the log
		// shows as a gap when it is read; the last one shows only here.
		_, err = s.get(ctx, last)
	}
	return last, err
}

// checkContiguous returns ErrCorrupt if a sequence is missing.
func checkContiguous(s jetstream.StreamState) error {
	if s.LastSeq == 0 || s.FirstSeq == 1 && s.Msgs == s.LastSeq {
		return nil
	}
	missing := ""
	if len(s.Deleted) > 0 {
		missing = fmt.Sprintf("; missing %d", s.Deleted[:min(len(s.Deleted), 10)])
	}
	return fmt.Errorf("%w: stream %s has %d commits, sequences %d to %d, want %d from 1%s",
		eventstore.ErrCorrupt, subject.EventStream, s.Msgs, s.FirstSeq, s.LastSeq, s.LastSeq, missing)
}
