package engine

import (
	"bytes"
	"errors"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
)

// making is a commit of this engine on its way into the log. The tail may bring it
// before its append is acknowledged, or although that fails: then what was encoded
// here need not be decoded. It is known by all it says, so whatever else comes, of
// another engine or damaged, is read like any commit.
type making struct {
	stored eventstore.Commit // without its sequence
	now    *entry            // what it was decided on
	events []instance.Event
	actor  string
	heard  *entry // what followed, once the tail brought it; the view guards it
}

// is reports whether this is the commit of the log that comes after now.
func (m *making) is(c eventstore.Commit, now stand) bool {
	if m == nil {
		return false
	}
	s := &m.stored
	return s.Chain == c.Chain && s.Prev == c.Prev && s.Prev == now.seq && m.now.head == now.head && s.ID == c.ID && s.Workflow == c.Workflow &&
		s.State == c.State && s.Instance == c.Instance && s.Wakes == c.Wakes && s.Time.Equal(c.Time) && bytes.Equal(s.Data, c.Data)
}

// commit is what the log has at a sequence.
func (m *making) commit(seq uint64) instance.Commit {
	return instance.Commit{Seq: seq, ID: m.stored.ID, At: m.stored.Time, Actor: m.actor, Events: m.events}
}

// at is the instance after it.
func (m *making) at(seq uint64) *entry { return m.now.with(m.commit(seq), m.stored.Chain) }

// makes has the view know what is on its way, until made.
func (v *view) makes(m *making) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.making[m.stored.Instance] = m
}

// made forgets it, and returns what followed if the tail brought it meanwhile.
func (v *view) made(m *making) *entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.making[m.stored.Instance] == m { // nothing keeps a second one from being made
		delete(v.making, m.stored.Instance)
	}
	return m.heard
}

// hears says what followed what is on its way.
func (v *view) hears(m *making, next *entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	m.heard = next
}

// sure reports whether an append that failed so has left nothing in the log.
func sure(err error) bool {
	return errors.Is(err, eventstore.ErrConflict) || errors.Is(err, eventstore.ErrInvalid) || errors.Is(err, eventstore.ErrTooLarge)
}
