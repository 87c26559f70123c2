package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// errBlocked means that a foreign message is in the way of an append, and that the
// next try goes round it.
var errBlocked = errors.New("a message that is no commit came between")

// foreigners remembers the newest foreign message on the subjects of each instance
// that has one, and the commit before it. Neither can change any more. The zero
// value is ready. It is safe for concurrent use.
type foreigners struct {
	mu    sync.Mutex
	all   map[string]blockage // by instance
	spent map[string]bool     // command ids that foreign messages have as their message ids
}

// blockage is a foreign message on the subjects of an instance.
type blockage struct {
	at   uint64            // its sequence
	last eventstore.Commit // the instance's newest commit before it; zero: none
}

// maxForeigners bounds what is remembered: what is forgotten is read again.
const maxForeigners = 10_000

func (f *foreigners) of(instance string) blockage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[instance]
}

func (f *foreigners) note(instance string, b blockage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil || len(f.all) >= maxForeigners {
		f.all = map[string]blockage{}
	}
	if f.all[instance].at < b.at {
		f.all[instance] = b
	}
}

func (f *foreigners) spend(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spent == nil || len(f.spent) >= maxForeigners {
		f.spent = map[string]bool{}
	}
	f.spent[id] = true
}

// detour returns how c goes round the foreign messages that are known. It expects a foreign
// message only if c follows the newest commit before that. An append that is late must not
// be taken for the next one.
func (f *foreigners) detour(c eventstore.Commit) detour {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := detour{otherID: f.spent[c.ID]}
	if b := f.all[c.Instance]; b.at > c.Prev && b.last.Seq == c.Prev {
		d.after = b.at
	}
	return d
}

// lastBefore returns the newest commit of an instance before the foreign message at the
// sequence end, and keeps it. It is the zero Commit if there is none.
func (s *Store) lastBefore(ctx context.Context, instance string, end uint64) (eventstore.Commit, error) {
	known := s.foreigners.of(instance)
	if known.at >= end {
		return known.last, nil
	}
	filter, err := subject.Instance(instance)
	if err != nil {
		return eventstore.Commit{}, err
	}
	last := known.last
	err = s.eachOn(ctx, filter, known.at+1, end, func(c eventstore.Commit) {
		if c.Foreign == nil {
			last = c
		}
	})
	if err == nil {
		s.foreigners.note(instance, blockage{end, last})
	}
	return last, err
}

// eachOn calls f for each message from one sequence to another on a filter.
func (s *Store) eachOn(ctx context.Context, filter string, from, end uint64, f func(eventstore.Commit)) error {
	consumer, err := s.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, FilterSubjects: []string{filter},
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: expiry,
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", filter, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readBytes))
	if err != nil {
		return fmt.Errorf("read %s: %w", filter, err)
	}
	defer messages.Stop()
	option := jetstream.NextContext(ctx)
	for n, at := uint64(1), from-1; at < end; n++ {
		m, err := messages.Next(option)
		if err != nil {
			return fmt.Errorf("read %s after sequence %d: %w", filter, at, err)
		}
		where, err := m.Metadata()
		if err != nil {
			return err
		}
		if where.Sequence.Consumer != n {
			return fmt.Errorf("%w: a delivery went missing", errLost)
		}
		at = where.Sequence.Stream
		c, err := decode(m.Subject(), m.Headers(), m.Data(), at)
		if err != nil {
			return err
		}
		if at <= end {
			f(c)
		}
	}
	return nil
}

// storedAt returns the time at which a delivery came into the stream, from the subject
// that it is acknowledged on; zero if that says none.
func storedAt(ack string) time.Time {
	tokens := strings.Split(ack, ".")
	if len(tokens) < 9 {
		return time.Time{}
	}
	at := 7 // after $JS.ACK, the stream, the consumer, how often, and two sequences
	if len(tokens) > 9 {
		at = 9
	}
	nanos, err := strconv.ParseInt(tokens[at], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}
