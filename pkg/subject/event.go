package subject

import "fmt"

const (
	// EventStream is the name of the stream that is the log.
	EventStream = "EVENTS"
	// Events is what the log's stream captures.
	Events = eventPrefix + ">"

	eventPrefix = "sb.evt."
	work        = "work"
	note        = "note"
)

// Event is the subject of one commit.
type Event struct {
	Workflow string // with State: where the instance is after the commit
	State    string
	Instance string // the id, not escaped
	Wakes    bool   // whether the owner of State has something to do
}

// Subject returns e as a subject, or ErrInvalid.
func (e Event) Subject() (string, error) {
	if err := checkNames(e.Workflow, e.State); err != nil {
		return "", err
	}
	if err := CheckInstance(e.Instance); err != nil {
		return "", err
	}
	kind := note
	if e.Wakes {
		kind = work
	}
	return eventPrefix + kind + "." + e.Workflow + "." + e.State + "." + Escape(e.Instance), nil
}

// ParseEvent is the inverse of Event.Subject.
func ParseEvent(s string) (Event, error) {
	t, err := cut(s, eventPrefix, 4)
	if err != nil {
		return Event{}, err
	}
	if t[0] != work && t[0] != note {
		return Event{}, fmt.Errorf("%w: %q, want %s or %s after %s", ErrInvalid, s, work, note, eventPrefix)
	}
	if err := checkNames(t[1], t[2]); err != nil {
		return Event{}, err
	}
	id, err := Unescape(t[3])
	if err != nil {
		return Event{}, err
	}
	return Event{Workflow: t[1], State: t[2], Instance: id, Wakes: t[0] == work}, nil
}

// Instance returns the one canonical filter of an instance's commits. Every
// append expects its sequence on exactly this string: two spellings of one
// filter do not exclude each other on a replicated stream.
func Instance(id string) (string, error) {
	if err := CheckInstance(id); err != nil {
		return "", err
	}
	return eventPrefix + "*.*.*." + Escape(id), nil
}

// Work returns the filter of the commits that give the owner of a state
// something to do. A role's consumer has one for each state it owns.
func Work(workflow, state string) (string, error) {
	if err := checkNames(workflow, state); err != nil {
		return "", err
	}
	return eventPrefix + work + "." + workflow + "." + state + ".*", nil
}
