package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// ErrSettings means that a stream has settings under which it can lose, refuse or
// reveal what is kept in it.
var ErrSettings = errors.New("the settings of a stream were changed")

// setting is one that a stream must keep.
type setting struct {
	want string
	ok   func(c *jetstream.StreamConfig) bool
	mend func(c *jetstream.StreamConfig) // nil: a server does not take it back
}

// watched are the streams whose settings are watched, those of buckets included.
var watched = [...]string{
	subject.EventStream, DeadStream, subject.TimerStream, "KV_" + DefinitionBucket, "OBJ_" + ObjectBucket,
	"KV_" + WatermarkBucket, "KV_" + SnapshotBucket, "OBJ_" + SnapshotParts,
}

// Watched returns the names of the streams whose settings are watched.
func Watched() []string { return slices.Clone(watched[:]) }

// provisioned are those of them that Provision creates: one that is not there was deleted.
// Of the others the log is looked at by all who use it, a watermark may be a file.
var provisioned = [...]string{DeadStream, subject.TimerStream, "KV_" + DefinitionBucket, "OBJ_" + ObjectBucket}

var errDeleted = errors.New("it was deleted, and the next start of an orchestrator makes an empty one: restore it from a backup")

// settings returns what a stream must keep. Copies, placement, compression and descriptions
// are not among it: people may change them. Nor is a limit of bytes where the server then
// refuses new messages and keeps the old ones.
func settings(name string) []setting {
	dead, timers, log := name == DeadStream, name == subject.TimerStream, name == subject.EventStream
	subjects := map[string][]string{
		subject.EventStream: {subject.Events}, subject.TimerStream: {subject.Timers}, DeadStream: {subject.MaxDeliveries, subject.Terminated},
	}[name]
	perSubject := int64(-1)
	if bucket, ok := strings.CutPrefix(name, "KV_"); ok {
		subjects, perSubject = []string{"$KV." + bucket + ".>"}, 1
	}
	if bucket, ok := strings.CutPrefix(name, "OBJ_"); ok {
		subjects = []string{"$O." + bucket + ".C.>", "$O." + bucket + ".M.>"}
	}
	if timers {
		perSubject = 1
	}
	all := []setting{
		{fmt.Sprintf("subjects %v", subjects), func(c *jetstream.StreamConfig) bool { return slices.Equal(c.Subjects, subjects) },
			func(c *jetstream.StreamConfig) { c.Subjects = subjects }},
		{"limits retention", func(c *jetstream.StreamConfig) bool { return c.Retention == jetstream.LimitsPolicy },
			func(c *jetstream.StreamConfig) { c.Retention = jetstream.LimitsPolicy }},
		{"no limit of age", func(c *jetstream.StreamConfig) bool { return c.MaxAge == 0 }, func(c *jetstream.StreamConfig) { c.MaxAge = 0 }},
		{"no limit of a message's size", func(c *jetstream.StreamConfig) bool { return c.MaxMsgSize <= 0 },
			func(c *jetstream.StreamConfig) { c.MaxMsgSize = -1 }},
		{"no limit of bytes", func(c *jetstream.StreamConfig) bool {
			return c.MaxBytes <= 0 || !log && c.Discard == jetstream.DiscardNew
		},
			func(c *jetstream.StreamConfig) { c.MaxBytes = -1 }},
		{atMost(perSubject) + " of a subject", func(c *jetstream.StreamConfig) bool {
			return c.MaxMsgsPerSubject == perSubject || perSubject < 0 && c.MaxMsgsPerSubject <= 0
		}, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = perSubject }},
		{"acknowledgements", func(c *jetstream.StreamConfig) bool { return !c.NoAck }, func(c *jetstream.StreamConfig) { c.NoAck = false }},
		{"no copy on other subjects", func(c *jetstream.StreamConfig) bool { return c.RePublish == nil },
			func(c *jetstream.StreamConfig) { c.RePublish = nil }},
		{"no other stream as source", func(c *jetstream.StreamConfig) bool {
			return c.Mirror == nil && len(c.Sources) == 0 && c.SubjectTransform == nil
		}, func(c *jetstream.StreamConfig) { c.Mirror, c.Sources, c.SubjectTransform = nil, nil, nil }},
		{"no seal", func(c *jetstream.StreamConfig) bool { return !c.Sealed }, nil},
	}
	most := int64(-1)
	if dead {
		most = maxDead
	}
	all = append(all, setting{atMost(most), func(c *jetstream.StreamConfig) bool {
		return c.MaxMsgs == most || most < 0 && c.MaxMsgs <= 0
	}, func(c *jetstream.StreamConfig) { c.MaxMsgs = most }})
	if log {
		all = append(all,
			setting{"deny_delete", func(c *jetstream.StreamConfig) bool { return c.DenyDelete },
				func(c *jetstream.StreamConfig) { c.DenyDelete = true }},
			setting{"deny_purge", func(c *jetstream.StreamConfig) bool { return c.DenyPurge },
				func(c *jetstream.StreamConfig) { c.DenyPurge = true }},
			setting{"no rollup", func(c *jetstream.StreamConfig) bool { return !c.AllowRollup },
				func(c *jetstream.StreamConfig) { c.AllowRollup = false }},
			setting{"no direct gets", func(c *jetstream.StreamConfig) bool { return !c.AllowDirect },
				func(c *jetstream.StreamConfig) { c.AllowDirect = false }},
			setting{"no times to live", func(c *jetstream.StreamConfig) bool { return !c.AllowMsgTTL }, nil},
			setting{"file storage", func(c *jetstream.StreamConfig) bool { return c.Storage == jetstream.FileStorage }, nil},
		)
	}
	return all
}

// Deviation is what is wrong with the settings of one stream.
type Deviation struct {
	Stream  string
	Want    []string // that it does not have
	Mended  bool     // all were put back
	Problem error    // why not
}

// CheckSettings returns ErrSettings, with what they should be, unless a stream has the
// settings that it must keep.
func CheckSettings(c jetstream.StreamConfig) error {
	var want []string
	for _, s := range settings(c.Name) {
		if !s.ok(&c) {
			want = append(want, s.want)
		}
	}
	if want == nil {
		return nil
	}
	return fmt.Errorf("%w: stream %s should have %s", ErrSettings, c.Name, strings.Join(want, ", "))
}

// MendSettings looks at the settings of all streams that are watched and are there. It
// puts back what was changed, where a server permits that; a stream that was deleted is
// not made again. It returns all its findings, mended or not. While another process
// changes the same stream, the last one wins.
func MendSettings(ctx context.Context, js jetstream.JetStream) ([]Deviation, error) {
	var found []Deviation
	for _, name := range watched {
		stream, err := js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			if slices.Contains(provisioned[:], name) {
				found = append(found, Deviation{Stream: name, Want: []string{"its messages"}, Problem: errDeleted})
			}
			continue
		}
		if err != nil {
			return found, fmt.Errorf("look at stream %s: %w", name, err)
		}
		if d, wrong := mend(ctx, js, stream.CachedInfo().Config); wrong {
			found = append(found, d)
		}
	}
	return found, nil
}

// mend puts back the settings of a stream. A setting that it cannot put back does not
// keep it from putting back the rest.
func mend(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) (d Deviation, wrong bool) {
	d, mendable := Deviation{Stream: c.Name}, true
	next, changed := c, false
	for _, s := range settings(c.Name) {
		if s.ok(&c) {
			continue
		}
		d.Want = append(d.Want, s.want)
		if s.mend == nil {
			mendable = false
			continue
		}
		s.mend(&next)
		changed = true
	}
	if d.Want == nil {
		return d, false
	}
	if changed {
		_, d.Problem = js.UpdateStream(ctx, next)
	}
	if !mendable && d.Problem == nil {
		d.Problem = errors.New("the server does not take that back: make a backup and restore it to a new stream")
	}
	d.Mended = d.Problem == nil
	return d, true
}

// atMost says how many messages there may be; -1 is any number.
func atMost(n int64) string {
	switch n {
	case -1:
		return "no limit of messages"
	case 1:
		return "a limit of 1 message"
	}
	return fmt.Sprintf("a limit of %d messages", n)
}
