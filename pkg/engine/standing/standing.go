// Package standing is why an instance stands where it is, as data: the reasons, the role or the
// people whose turn it is, the commands that help, and the rules with what they read now. The
// terminal, the comments of an issue and the console print it.
package standing

import (
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Kind is the kind of a Reason.
type Kind string

// The kinds, in the order in which Of returns them.
const (
	Cancelled Kind = "cancelled"
	Failed    Kind = "failed" // it ended without success
	Ended     Kind = "ended"
	Paused    Kind = "paused"
	Escalated Kind = "escalated" // to people
	Place     Kind = "place"     // a limit of the work under way is reached
	Budget    Kind = "budget"    // a day's budget is spent
	Parked    Kind = "parked"
	Resting   Kind = "resting" // the machinery failed, and the end of that is known
	After     Kind = "after"   // others have to end well first
	Inquired  Kind = "inquired"
	People    Kind = "people"
	Working   Kind = "working"
	Silent    Kind = "silent" // the lease of its agent ran out
	Queued    Kind = "queued"
)

// ForPeople is Unblocks of a reason that people end.
const ForPeople = "people"

// Reason is one thing that keeps an instance where it is, or the work under way.
type Reason struct {
	Kind  Kind      `json:"kind"`
	Text  string    `json:"text"`            // the words of a person, an agent or a lifecycle; empty: none
	Role  string    `json:"role"`            // whose work it is; empty: nobody's
	Agent string    `json:"agent"`           // that has it, had it, or asks; empty: none
	Since time.Time `json:"since,omitzero"`  // zero: that says nothing
	Until time.Time `json:"until,omitzero"`  // when it ends by itself; zero: that is not known
	Fault *Fault    `json:"fault,omitempty"` // the newest in this state
	// Faults counts those of this state.
	Faults int `json:"faults,omitempty"`
	// Questions are the numbers of those that people have not answered.
	Questions []int `json:"questions"`
	// Others are those that have to end well first.
	Others []Other `json:"others"`
	// Unblocks is a role, or people; empty: nobody has to act.
	Unblocks string   `json:"unblocks"`
	Help     []Action `json:"help"`
}

// Other is an instance that this one comes after.
type Other struct {
	Instance string `json:"instance"`
	State    string `json:"state"`
	Ended    bool   `json:"ended"`
}

// Action is a command that may help: a verb of the command line and its arguments.
type Action struct {
	Verb string   `json:"verb"`
	Args []string `json:"args"`
}

// doctor is about no instance.
const doctor = "doctor"

// Command returns the action as it is typed.
func (a Action) Command(id string) string {
	words := []string{"signalbox", a.Verb}
	if a.Verb != doctor {
		words = append(words, id)
	}
	return strings.Join(append(words, a.Args...), " ")
}

// Fault is a fault of the machinery for which an agent gave the work back.
type Fault struct {
	Agent  string    `json:"agent"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

func help(actions ...string) (all []Action) {
	for _, a := range actions {
		words := strings.Fields(a)
		all = append(all, Action{words[0], words[1:]})
	}
	return all
}

// Of returns why an instance stands where it is at a time, the reason that counts most first.
// There is at least one.
func Of(in instance.Instance, past Past, now time.Time) []Reason {
	w := standing{in: in, past: past, now: now, worker: in.Worker()}
	if in.Closed != "" {
		w.closed()
		return w.all
	}
	w.held()
	w.waits()
	if len(w.all) == 0 {
		w.work()
	}
	return w.all
}

type standing struct {
	in     instance.Instance
	past   Past
	now    time.Time
	worker string
	all    []Reason
}

func (w *standing) add(r Reason) {
	r.Questions, r.Others, r.Help = some(r.Questions), some(r.Others), some(r.Help)
	w.all = append(w.all, r)
}

func some[A any](as []A) []A { return append([]A{}, as...) }

func (w *standing) closed() {
	switch in := w.in; {
	case in.Closed == instance.Cancelled:
		w.add(Reason{Kind: Cancelled, Text: in.Reason, Help: help("reopen")})
	case in.Failed:
		w.add(Reason{Kind: Failed, Text: in.Reason, Help: help("reopen")})
	default:
		w.add(Reason{Kind: Ended, Text: in.Reason})
	}
}

// held adds what keeps the work from every agent.
func (w *standing) held() {
	in := w.in
	if in.Paused {
		w.add(Reason{Kind: Paused, Text: in.Reason, Unblocks: ForPeople, Help: help("resume", "cancel")})
	}
	for _, e := range in.Escalations {
		if e.RequiresHuman && !e.Resolved {
			w.add(Reason{Kind: Escalated, Text: e.Reason, Agent: e.Agent, Since: e.At, Unblocks: ForPeople, Help: help("answer TEXT", "cancel")})
		}
	}
	p := in.Parked
	switch {
	case p == nil:
	case p.WaitsFor == instance.ForPlace:
		w.add(Reason{Kind: Place, Text: p.Reason, Role: w.worker, Help: help("cancel")})
	case p.WaitsFor == instance.ForBudget:
		w.add(Reason{Kind: Budget, Text: p.Reason, Role: w.worker, Until: p.Until, Unblocks: ForPeople, Help: help("budget " + raise(p.Reason) + " --day")})
	case in.WaitingOn() == 0:
		w.add(Reason{Kind: Parked, Text: p.Reason, Role: w.worker, Until: p.Until, Help: help("retry")})
	}
}

// raise returns an amount by which the budget that the work waits for can be raised.
func raise(reason string) string {
	named, _, _ := strings.Cut(strings.TrimPrefix(reason, "the budget "), " ")
	b, err := ledger.Parse(named)
	if err != nil {
		return "+5usd"
	}
	return b.Unit()
}

// waits adds what the work waits for.
func (w *standing) waits() {
	in := w.in
	if r := w.past.Rest; r.Until.After(w.now) && in.Claim == nil && in.Parked == nil && !in.Paused && w.worker != "" {
		w.add(Reason{Kind: Resting, Text: r.Reason, Role: w.worker, Until: r.Until, Help: help("retry")})
	}
	if others := w.others(); len(others) > 0 {
		w.add(Reason{Kind: After, Others: others, Help: help("cancel")})
	}
	_, escalated := in.Escalation()
	switch working := in.Claim.Live(w.now); {
	case escalated:
	case w.worker != "" && w.worker != in.Owner && !working && len(w.all) == 0:
		w.add(Reason{Kind: Inquired, Role: w.worker, Fault: w.past.Fault, Unblocks: w.worker, Help: help("retry", doctor)})
	case in.Kind == workflow.Wait && w.worker == "":
		r := Reason{Kind: People, Text: in.Reason, Since: in.EnteredAt, Unblocks: ForPeople, Help: help("answer TEXT", "cancel")}
		if in.Paused {
			r.Text = in.MoveReason // the other is that of the pause
		}
		for _, q := range in.OpenQuestions() {
			r.Questions = append(r.Questions, q.Number)
		}
		if len(w.others()) == 0 {
			w.add(r)
		}
	}
}

func (w *standing) others() (all []Other) {
	for _, l := range w.in.Links {
		if l.Kind == instance.After && !(l.Ended && l.Well) {
			all = append(all, Other{l.Instance, l.State, l.Ended})
		}
	}
	return all
}

// work adds how the work is under way.
func (w *standing) work() {
	switch in := w.in; {
	case in.Claim.Live(w.now):
		w.add(Reason{Kind: Working, Role: in.Claim.Role, Agent: in.Claim.Agent, Since: in.Claim.At, Until: in.Claim.Lease, Fault: w.past.Fault,
			Unblocks: in.Claim.Role, Help: help("pause")})
	case in.Claim != nil:
		w.add(Reason{Kind: Silent, Role: in.Owner, Agent: in.Claim.Agent, Since: in.Claim.At, Until: in.Claim.Lease, Fault: w.past.Fault,
			Unblocks: in.Owner, Help: help("retry")})
	default:
		w.add(Reason{Kind: Queued, Role: in.Owner, Since: in.EnteredAt, Fault: w.past.Fault, Faults: in.Faults, Unblocks: in.Owner, Help: help("retry", doctor)})
	}
}
