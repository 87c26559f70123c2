package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ledger is how far the commands of a repository are carried out.
type ledger struct {
	Since time.Time `json:"since"` // the newest change of a comment that was read
	From  time.Time `json:"from"`  // comments made before are not read for commands
	// Done is what was carried out, refused included: "COMMENT/KEY", and when.
	Done map[string]time.Time `json:"done,omitempty"`
	// Spent is that of a cursor, of commands.
	Spent map[string][]time.Time `json:"spent,omitempty"`
}

const (
	// commandFor is how long after a comment was made commands in it count, also those that an
	// edit adds.
	commandFor = 7 * 24 * time.Hour
	// maxDone is how many commands are remembered.
	maxDone = 5000
)

// prune forgets what cannot be met again.
func (l *ledger) prune(now time.Time) {
	maps.DeleteFunc(l.Done, func(_ string, at time.Time) bool { return now.Sub(at) > commandFor+day })
	for len(l.Done) > maxDone {
		first := ""
		for key, at := range l.Done {
			if first == "" || at.Before(l.Done[first]) {
				first = key
			}
		}
		delete(l.Done, first)
	}
	c := cursor{Since: now, Spent: l.Spent}
	c.prune()
}

func (l ledger) equal(o ledger) bool {
	return l.Since.Equal(o.Since) && l.From.Equal(o.From) && maps.EqualFunc(l.Done, o.Done, time.Time.Equal) && maps.EqualFunc(l.Spent, o.Spent, sameTimes)
}

func (l ledger) clone() ledger {
	l.Done, l.Spent = maps.Clone(l.Done), maps.Clone(l.Spent)
	if l.Done == nil {
		l.Done = map[string]time.Time{}
	}
	return l
}

// ledger returns the ledger of a repository, zero if there is none yet.
func (c cursors) ledger(ctx context.Context, repo string) (l ledger, err error) {
	entry, err := c.kv.Get(ctx, key(repo+"/commands"))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(entry.Value(), &l)
	}
	if err != nil {
		return l, fmt.Errorf("commands of %s: %w", repo, err)
	}
	return l, nil
}

func (c cursors) saveLedger(ctx context.Context, repo string, l ledger) error {
	data, err := json.Marshal(l)
	if err == nil {
		_, err = c.kv.Put(ctx, key(repo+"/commands"), data)
	}
	if err != nil {
		return fmt.Errorf("commands of %s: %w", repo, err)
	}
	return nil
}
