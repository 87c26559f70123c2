package app

import (
	"context"
	"maps"
	"time"
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

// forget forgets what cannot be met again.
func (l *ledger) forget(now time.Time) {
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

func (l ledger) sameAs(o ledger) bool {
	return l.Since.Equal(o.Since) && l.From.Equal(o.From) && maps.EqualFunc(l.Done, o.Done, time.Time.Equal) && maps.EqualFunc(l.Spent, o.Spent, sameTimes)
}

func (l ledger) copied() ledger {
	l.Done, l.Spent = maps.Clone(l.Done), maps.Clone(l.Spent)
	if l.Done == nil {
		l.Done = map[string]time.Time{}
	}
	return l
}

// ledger returns the ledger of a repository, zero if there is none yet.
func (c cursors) ledger(ctx context.Context, repo string) (ledger, error) {
	l, _, err := record[ledger](ctx, c.kv, key(repo+"/commands"), "commands of "+repo)
	return l, err
}

func (c cursors) saveLedger(ctx context.Context, repo string, l ledger) error {
	return putRecord(ctx, c.kv, key(repo+"/commands"), "commands of "+repo, l)
}
