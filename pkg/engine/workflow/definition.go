// Package workflow holds lifecycles as data: which states there are, who owns
// each, which moves are permitted and which rule picks one. It is pure: no I/O
// beyond the bytes it is given, no clock, no network.
package workflow

import (
	"slices"
	"time"
)

// Definition is one lifecycle, loaded and checked. It is immutable: share it
// freely, never write to it.
type Definition struct {
	Name    string // one token: "issue"
	Version int    // the author's own counting; Hash is the identity
	Extends string // the definition this one was laid over; not part of Source, which is complete in itself
	Initial string // the state an instance opens in

	// Policy names the numbers, texts and switches that guards read as policy.NAME.
	// Values are bool, int64, float64 or string; the type is fixed by the default.
	Policy map[string]any

	// Vars names the variables that an instance has in addition to its past, with the values it
	// opens with; guards read them as vars.NAME. Types as in Policy.
	Vars map[string]any

	Entries []string // states an instance may be opened in, in addition to Initial

	// Order ranks work that is ready: the claims of a lifecycle that has one get
	// the most urgent instance at that moment. Whole numbers, the first that
	// differs decides, lower is more urgent (story lifecycle, task selection priority).
	Order []Guard

	// May lists the roles, or Human, that may do an action: override, cancel. Any
	// person may do an action that is not in it.
	May map[string][]string

	// gives lists the statements that roles may make: see Gives. nil: it is not set.
	gives *From

	// Resolves are the signals that resolve what was escalated to people.
	Resolves []Resolve

	Loop Loop

	// Limits are tried in order before every move into a state that is not
	// final, with the instance as it would be after it. The first that holds and
	// has a target the table permits replaces the move. A move into a final
	// state is never replaced: a run that is about to end may end as it should.
	Limits []Rule
	Gates  []Gate
	States []State // in file order

	Hash string // hex SHA-256 of Source: equal hashes decide alike

	index     map[string]int
	reads     map[string]bool
	runs      map[string]bool   // by name: evidence that the work of some state makes
	writers   map[string]string // by role: a state in which it writes the code
	readers   map[string]bool   // the roles whose work in some state is to read answers
	at        Position
	entriesAt []Position
	places    map[string]Position // of keys that are in no row: "initial", "policy.NAME"
}

// Kind is the cause that a state waits for. It follows from the rest of the row: a
// state with an owner is work, one marked final is final, any other waits.
type Kind string

const (
	Work  Kind = "work"  // its owner has something to do
	Wait  Kind = "wait"  // no role works; a signal moves it
	Final Kind = "final" // nothing leaves it
)

// State is one row of the lifecycle's table.
type State struct {
	Name     string
	About    string // what the state means, one sentence
	Owner    string // the role that works in it; empty unless Kind is Work
	Kind     Kind
	Timeout  time.Duration     // how long an instance is expected to stay; 0: no deadline
	Next     []Transition      // the permitted moves, in the table's order
	Decide   []Rule            // picks a move when the owner's result named none; first match wins
	On       map[string][]Rule // by signal name: what an outside signal does here
	Proposes bool              // whether the owner's result may name the next state

	// Always are moves that need no work. The first that holds is taken on entering the
	// state, and again whenever something became known in it while no agent works. A stay
	// among them lasts as long as its guard holds. One that escalates has to set what its
	// guard reads, or people are asked again.
	Always []Rule
	Asks   []Inquiry // questions to other roles, asked on entering the state
	Spawns []Spawn   // instances opened on entering the state
	Writes []string  // sections of the instance's document that the owner may write
	Tell   bool      // people get a comment that the instance waits here

	Work    WorkSpec            // the owner's work in addition to thinking
	Answers map[string]WorkSpec // by role: what the work of a role that is asked something here is
	Added   string              // why the table has the state although the lifecycle's source does not; empty for a source's own

	// As written; nil: the default.
	proposes *bool
	work     *WorkSpec
	answers  map[string]WorkSpec

	at       Position
	writesAt []Position
	workAt   map[string]Position // of what is in work and answers: "work", "work.runs", "answers.ROLE.runs"
}

// Transition is one permitted move.
type Transition struct {
	To    string
	Added string // why the table has it although the lifecycle's source does not; empty for a source's own row

	at Position
}

// Previous is, as a target, the state that the instance came to its present one
// from: the last other one it was in.
const Previous = "$previous"

// Human is, in Definition.May, any person.
const Human = "human"

// Names of reactions the engine itself asks for, in addition to the signals from outside.
const (
	OnClaimed    = "claimed"            // the owner picked the work up: the claim stays
	OnEnded      = "ended"              // an instance this one is linked to has ended
	OnWarning    = "timeout_warning"    // at 80 % of the state's timeout
	OnAlert      = "timeout_alert"      // at 100 %
	OnEscalation = "timeout_escalation" // at 150 %
)

// Rule moves an instance when its guard holds, or says how it stays: it has one
// of To, Stay and Escalate.
type Rule struct {
	Name           string            // for limits: what the log calls it
	When           Guard             // the zero Guard always holds
	To             []string          // candidates; the first that the table permits from the current state is taken
	Stay           Stay              // the instance stays where it is
	Escalate       bool              // it stays, and people are asked; Reason says what
	Set            map[string]string // vars and their new values
	ResetsFailures bool              // all failure counts are reset
	Reason         string            // what the log says; may have ${policy.NAME}
	Failure        bool              // the move is recorded as a failure of the state it leaves
	Resumes        bool              // the wait that is entered goes on: its deadlines count from where its newest stay began

	at    Position
	toAt  []Position
	setAt map[string]Position
}

// Stay is when the owner of a state that is not left is given it again. Source is empty
// for a rule that moves, "now", and "signal" for one that waits for a signal. Else it is a
// time to wait, which ${policy.NAME} may give.
type Stay struct {
	Source string
	After  time.Duration // 0 for now, negative for not before a signal

	at Position
}

// Inquiry is a question to the role To, asked when its guard holds.
type Inquiry struct {
	When Guard
	To   string
	Text string

	at Position
}

// Spawn opens an instance of another lifecycle, in its initial state or in State,
// one of its entries, when its guard holds. Vars that both lifecycles have go along.
type Spawn struct {
	When     Guard
	Workflow string
	State    string
	Reason   string

	at Position
}

// Resolve is a signal that resolves an escalation when its guard holds.
type Resolve struct {
	Signal string
	When   Guard

	at Position
}

// Gate forbids entering states until its requirement holds.
type Gate struct {
	Name    string
	To      []string // the states it guards
	Require Guard
	Instead []string // where the instance goes instead; the first permitted one
	Reason  string

	at        Position
	toAt      []Position
	insteadAt []Position
}

// Loop defines when the recent past counts as a loop (issue lifecycle source, is_in_loop): the
// last Window previous states hold at most Distinct different ones. The loop
// itself only warns; Limits may act on instance.loop.
type Loop struct {
	Window   int
	Distinct int
}

// Reads reports whether a guard may read a fact that takes something to gather, by its name
// in Facts. One that no guard of a lifecycle reads need not be there.
func (d *Definition) Reads(fact string) bool { return d.reads[fact] }

// State returns the named state.
func (d *Definition) State(name string) (State, bool) {
	i, ok := d.index[name]
	if !ok {
		return State{}, false
	}
	return d.States[i], true
}

// Permits reports whether the table has the move.
func (d *Definition) Permits(from, to string) bool {
	s, ok := d.State(from)
	return ok && s.permits(to)
}

func (s State) permits(to string) bool {
	for _, t := range s.Next {
		if t.To == to {
			return true
		}
	}
	return false
}

// Proposals lists the states that the owner's result may name as the next one, in the row's
// order. A final state is among them only if a decide rule leads there. A result ends a run
// by a rule that holds, never by its word alone.
func (d *Definition) Proposals(s State) []string {
	if !s.Proposes {
		return nil
	}
	var out []string
	for _, t := range s.Next {
		ruled := slices.ContainsFunc(s.Decide, func(r Rule) bool { return slices.Contains(r.To, t.To) || slices.Contains(r.To, Previous) })
		if to, _ := d.State(t.To); to.Kind != Final || ruled {
			out = append(out, t.To)
		}
	}
	return out
}

// StateNames lists the states in file order.
func (d *Definition) StateNames() []string {
	names := make([]string, len(d.States))
	for i, s := range d.States {
		names[i] = s.Name
	}
	return names
}

// Roles lists the owners, each once, in the order of their first state.
func (d *Definition) Roles() []string {
	var roles []string
	seen := map[string]bool{}
	for _, s := range d.States {
		if s.Owner != "" && !seen[s.Owner] {
			seen[s.Owner] = true
			roles = append(roles, s.Owner)
		}
	}
	return roles
}

// OwnedBy lists the states a role works in, in file order.
func (d *Definition) OwnedBy(role string) []string {
	var names []string
	for _, s := range d.States {
		if s.Kind == Work && s.Owner == role {
			names = append(names, s.Name)
		}
	}
	return names
}
