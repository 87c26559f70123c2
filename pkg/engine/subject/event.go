package subject

import (
	"fmt"
	"strings"
)

const (
	// EventStream is the name of the stream that is the log.
	EventStream = "EVENTS"
	// Events is what the log's stream captures.
	Events = eventPrefix + ">"

	eventPrefix    = "sb.evt."
	instancePrefix = eventPrefix + "*.*.*."
	work           = "work"
	note           = "note"
)

// Event is the subject of one commit.
type Event struct {
	Workflow string
	State    string // where the instance is after the commit, or an address: To a role, or People
	Instance string // the id, not escaped
	Wakes    bool   // whether the owner of State, or the role that is addressed, has work
}

const at = "@"

// People is the address of a commit that people have to know of.
const People = at + "people"

// To is the address of a commit that gives a role something to do in a state
// which it need not own: a question.
func To(role string) string { return at + role }

// Addressed returns the role that an address names; ok is false if s is none.
func Addressed(s string) (role string, ok bool) { return strings.CutPrefix(s, at) }

// checkPlace returns why s is neither a state nor an address.
func checkPlace(s string) error {
	name, _ := Addressed(s)
	return CheckName(name)
}

// Check returns why e has no subject.
func (e Event) Check() error {
	if err := CheckName(e.Workflow); err != nil {
		return err
	}
	if err := checkPlace(e.State); err != nil {
		return err
	}
	return CheckInstance(e.Instance)
}

// Subject returns e as a subject, or ErrInvalid.
func (e Event) Subject() (string, error) {
	if err := e.Check(); err != nil {
		return "", err
	}
	kind := note
	if e.Wakes {
		kind = work
	}
	return eventPrefix + kind + "." + e.Workflow + "." + e.State + "." + Escape(e.Instance), nil
}

// ParseEvent is the inverse of Event.Subject. It is done for each commit that is
// read, so it allocates nothing.
func ParseEvent(s string) (Event, error) {
	rest, ours := strings.CutPrefix(s, eventPrefix)
	kind, rest, _ := strings.Cut(rest, ".")
	workflow, rest, _ := strings.Cut(rest, ".")
	state, token, four := strings.Cut(rest, ".")
	if !ours || !four {
		return Event{}, fmt.Errorf("%w: %.300q, want %s and 4 tokens", ErrInvalid, s, eventPrefix)
	}
	if kind != work && kind != note {
		return Event{}, fmt.Errorf("%w: %q, want %s or %s after %s", ErrInvalid, s, work, note, eventPrefix)
	}
	if err := CheckName(workflow); err != nil {
		return Event{}, err
	}
	if err := checkPlace(state); err != nil {
		return Event{}, err
	}
	id, err := Unescape(token) // which refuses a fifth token: its dot is none of an escape
	if err != nil {
		return Event{}, err
	}
	return Event{Workflow: workflow, State: state, Instance: id, Wakes: kind == work}, nil
}

// Instance returns the one canonical filter of an instance's commits. Every
// append expects its sequence on exactly this string: two spellings of one
// filter do not exclude each other on a replicated stream.
func Instance(id string) (string, error) {
	if err := CheckInstance(id); err != nil {
		return "", err
	}
	return instancePrefix + Escape(id), nil
}

// Of reports whether filter is Instance of e's instance.
func (e Event) Of(filter string) bool {
	token, ok := strings.CutPrefix(filter, instancePrefix)
	return ok && token == Escape(e.Instance)
}

// Work returns the filter of the commits that give the owner of a state
// something to do. A role's consumer has one for each state it owns, and WorkFor.
func Work(workflow, state string) (string, error) {
	if err := checkNames(workflow, state); err != nil {
		return "", err
	}
	return eventPrefix + work + "." + workflow + "." + state + ".*", nil
}

// WorkFor returns the filter of the commits that are addressed to a role.
func WorkFor(role string) (string, error) {
	if err := CheckName(role); err != nil {
		return "", err
	}
	return eventPrefix + work + ".*." + To(role) + ".*", nil
}
