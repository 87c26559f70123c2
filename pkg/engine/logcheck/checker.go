package logcheck

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Checker checks a log as it is read from its beginning. Create one with New. It is
// not safe for concurrent use.
type Checker struct {
	// Lean drops claims that have ended, for logs of any length. Report then has only
	// the newest of each instance.
	Lean bool

	find       Find
	chain      eventstore.Verifier
	lastSeq    uint64
	newest     position // the message at lastSeq
	commands   map[command]uint64
	instances  map[string]*instanceChecker
	commits    int
	gaps       []*gap
	damage     map[uint64]bool
	aliens     map[string]int // by the instance whose subjects they are on
	violations []Violation
}

// command is a digest of a command's id: the ids of a long log take much memory.
type command [16]byte

// New returns a checker. find returns the definitions.
func New(find Find) *Checker {
	return &Checker{
		find: find, commands: map[command]uint64{}, instances: map[string]*instanceChecker{},
		damage: map[uint64]bool{}, aliens: map[string]int{},
	}
}

// Add checks the next commit of the log. It reports a fault once: later commits are
// judged as if it had been right. After a missing or unreadable commit, no later
// move or claim of that instance is judged.
func (k *Checker) Add(c eventstore.Commit) {
	if c.Foreign != nil {
		k.alien(c)
		return
	}
	k.commits++
	say := func(rule Rule, format string, args ...any) {
		k.violations = append(k.violations, Violation{c.Seq, c.Instance, rule, fmt.Sprintf(format, args...)})
	}
	k.advance(position{c.Seq, c.Instance}, say)
	id := command(digest(c.ID))
	if first, known := k.commands[id]; known {
		say(Command, "the command %s made sequence %d already", c.ID, first)
	} else {
		k.commands[id] = c.Seq
	}
	t := k.instances[c.Instance]
	if t == nil {
		t = &instanceChecker{id: c.Instance, lean: k.Lean}
		k.instances[c.Instance] = t
	}
	t.report = say
	if err := k.chain.Add(c); err != nil {
		switch g := k.gapAt(c.Prev); {
		case g != nil:
			g.instances[c.Instance] = true
			t.reportFatal(Chain, "it follows %d, which is missing", c.Prev)
		case k.damage[c.Prev]:
			t.reportFatal(Chain, "it follows %d, which is not a commit", c.Prev)
		default:
			say(Chain, "%v", err)
		}
	}
	if t.commits++; !t.unjudged {
		k.events(t, c)
	}
	t.seq = c.Seq
	t.report = nil // it holds the commit
}

// alien reports a message that is no commit.
func (k *Checker) alien(c eventstore.Commit) {
	say := func(rule Rule, format string, args ...any) {
		k.violations = append(k.violations, Violation{c.Seq, "", rule, fmt.Sprintf(format, args...)})
	}
	k.advance(position{c.Seq, ""}, say)
	say(Alien, "%v", *c.Foreign)
	if at, err := subject.ParseEvent(c.Foreign.Subject); err == nil {
		k.aliens[at.Instance]++
	}
}

// Damaged reports a message of the log that says it is a commit and cannot be decoded,
// and why.
func (k *Checker) Damaged(seq uint64, instance string, why error) {
	say := func(rule Rule, format string, args ...any) {
		k.violations = append(k.violations, Violation{seq, instance, rule, fmt.Sprintf(format, args...)})
	}
	k.advance(position{seq, ""}, say)
	k.damage[seq] = true
	say(Damaged, "%v", why)
}

// advance moves to the next message of the log and reports gaps.
func (k *Checker) advance(at position, say func(Rule, string, ...any)) {
	switch {
	case at.seq > k.lastSeq+1:
		k.addGap(at)
	case at.seq <= k.lastSeq:
		say(Sequence, "it comes after %d", k.lastSeq)
	}
	k.lastSeq, k.newest = at.seq, at
}

func digest(id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:len(command{})]
}

// events checks the events of a commit and the subject that it is stored under.
func (k *Checker) events(t *instanceChecker, c eventstore.Commit) {
	if c.Time.Before(t.now) {
		t.report(Time, "it was made at %s, the one before it at %s", stamp(c.Time), stamp(t.now))
	}
	t.seq, t.now, t.closedBefore = c.Seq, c.Time, t.end != ""
	body := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, body); err != nil {
		t.reportFatal(Body, "it cannot be read: %v", err)
		return
	}
	events := wire.ToEvents(body)
	switch unknown := len(body.GetEvents()) - len(events); {
	case len(body.GetEvents()) == 0:
		t.report(Body, "it holds no event")
	case unknown > 0:
		t.report(Body, "%d of its events are of a kind this build does not know", unknown)
	}
	for i, e := range events {
		if t.table != nil {
			t.checkActor(body.GetActor(), e, i == 0)
		}
		if t.check(e, k); t.unjudged {
			return
		}
	}
	to, wakes := t.storedAs(events)
	if c.State == "@people" && !wakes && slices.ContainsFunc(events, func(e instance.Event) bool { _, late := e.(instance.TimedOut); return late }) {
		to = c.State // earlier builds notified nobody of deadlines
	}
	if c.Workflow != t.workflow || c.State != to || c.Wakes != wakes {
		t.report(Subject, "it is stored as %s, its events make it %s", formatSubject(c.Workflow, c.State, c.Wakes),
			formatSubject(t.workflow, to, wakes))
	}
}

// storedAs returns the state or addressee of the subject that the commit belongs
// under, and whether it dispatches. An inquired role and people come before the
// state. Directly claimed work is not dispatched.
func (t *instanceChecker) storedAs(events []instance.Event) (to string, wakes bool) {
	to = t.state
	for _, e := range events {
		if d, ok := e.(instance.Dispatched); ok {
			if wakes = true; d.Question != 0 {
				to = "@" + d.Owner
			}
		}
		if e, ok := e.(instance.Claimed); ok && e.Direct {
			wakes = false
		}
		if e, ok := e.(instance.Escalated); ok && e.RequiresHuman {
			to = "@people"
		}
	}
	return to, wakes
}

func formatSubject(workflow, state string, wakes bool) string {
	kind := "a note"
	if wakes {
		kind = "work"
	}
	return kind + " in " + workflow + "/" + state
}

// unreadable reports that the store cannot read on.
func (k *Checker) unreadable(err error) {
	k.violations = append(k.violations, Violation{k.lastSeq + 1, "", Sequence, err.Error()})
}

// Report returns what was found so far. A live claim ends with its lease.
func (k *Checker) Report() Report {
	r := Report{Commits: k.commits, Instances: len(k.instances), Violations: append([]Violation{}, k.violations...), Missing: []Gap{},
		Failures: map[string]map[string]int{}}
	for _, g := range k.gaps {
		r.Missing = append(r.Missing, g.export())
		r.Violations = append(r.Violations, g.violation())
	}
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return cmp.Compare(a.Seq, b.Seq) })
	for id, t := range k.instances {
		if len(t.failures) > 0 {
			r.Failures[id] = maps.Clone(t.failures)
		}
		for _, c := range t.claims {
			r.Claims = append(r.Claims, *c)
		}
	}
	slices.SortFunc(r.Claims, func(a, b Interval) int { return cmp.Compare(a.Seq, b.Seq) })
	return r
}
