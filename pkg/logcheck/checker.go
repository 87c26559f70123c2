package logcheck

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Checker checks a log as it is read from its beginning. Make one with New. It
// is not safe for concurrent use.
type Checker struct {
	// Lean keeps no record of the claims that are over: for logs of any length.
	Lean bool

	find     Find
	chain    eventstore.Verifier
	last     uint64
	newest   spot // what lies at last
	commands map[command]uint64
	trails   map[string]*trail
	commits  int
	gaps     []*gap
	foreign  map[uint64]bool
	found    []Violation
}

// command stands for a command's id: of a long log the ids themselves are much.
type command [16]byte

// New returns a checker that knows the definitions that find knows.
func New(find Find) *Checker {
	return &Checker{find: find, commands: map[command]uint64{}, trails: map[string]*trail{}, foreign: map[uint64]bool{}}
}

// Add checks the next commit of the log. A fault is named once: what follows it
// is judged as if it had been right. Of an instance one of whose commits is
// missing, or cannot be read, no later move or claim is judged.
func (k *Checker) Add(c eventstore.Commit) {
	k.commits++
	say := func(rule Rule, format string, args ...any) {
		k.found = append(k.found, Violation{c.Seq, c.Instance, rule, fmt.Sprintf(format, args...)})
	}
	k.reach(spot{c.Seq, c.Instance}, say)
	id := command(digest(c.ID))
	if first, spent := k.commands[id]; spent {
		say(Command, "the command %s made sequence %d already", c.ID, first)
	} else {
		k.commands[id] = c.Seq
	}
	t := k.trails[c.Instance]
	if t == nil {
		t = &trail{id: c.Instance, lean: k.Lean}
		k.trails[c.Instance] = t
	}
	t.say = say
	if err := k.chain.Add(c); err != nil {
		switch g := k.gap(c.Prev); {
		case g != nil:
			g.hurt[c.Instance] = true
			t.lose(Chain, "it follows %d, which is missing", c.Prev)
		case k.foreign[c.Prev]:
			t.lose(Chain, "it follows %d, which is not a commit", c.Prev)
		default:
			say(Chain, "%v", err)
		}
	}
	if t.commits++; !t.lost {
		k.events(t, c)
	}
	t.seq = c.Seq
}

// Foreign records a message of the log that is not a commit, and why.
func (k *Checker) Foreign(seq uint64, instance string, why error) {
	say := func(rule Rule, format string, args ...any) {
		k.found = append(k.found, Violation{seq, instance, rule, fmt.Sprintf(format, args...)})
	}
	k.reach(spot{seq, ""}, say)
	k.foreign[seq] = true
	say(Alien, "%v", why)
}

// reach goes on to the next message of the log.
func (k *Checker) reach(at spot, say func(Rule, string, ...any)) {
	switch {
	case at.seq > k.last+1:
		k.miss(at)
	case at.seq <= k.last:
		say(Sequence, "it comes after %d", k.last)
	}
	k.last, k.newest = at.seq, at
}

func digest(id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:len(command{})]
}

func (k *Checker) events(t *trail, c eventstore.Commit) {
	if c.Time.Before(t.now) {
		t.say(Time, "it was made at %s, the one before it at %s", stamp(c.Time), stamp(t.now))
	}
	t.seq, t.now, t.over = c.Seq, c.Time, t.end != ""
	body := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, body); err != nil {
		t.lose(Body, "it cannot be read: %v", err)
		return
	}
	events := wire.ToEvents(body)
	switch unknown := len(body.GetEvents()) - len(events); {
	case len(body.GetEvents()) == 0:
		t.say(Body, "it holds no event")
	case unknown > 0:
		t.say(Body, "%d of its events are of a kind this build does not know", unknown)
	}
	for _, e := range events {
		if t.event(e, k); t.lost {
			return
		}
	}
	if to, wakes := t.place(events); c.Workflow != t.workflow || c.State != to || c.Wakes != wakes {
		t.say(Subject, "it is stored as %s, its events make it %s", place(c.Workflow, c.State, c.Wakes), place(t.workflow, to, wakes))
	}
}

// place is where a commit that left the instance as it is belongs: with who is
// asked, with people who are required, else with the state. Work that was given
// directly wakes nobody.
func (t *trail) place(events []instance.Event) (to string, wakes bool) {
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

func place(workflow, state string, wakes bool) string {
	kind := "a note"
	if wakes {
		kind = "work"
	}
	return kind + " in " + workflow + "/" + state
}

// damaged records what the store says of a log it cannot read on.
func (k *Checker) damaged(err error) {
	k.found = append(k.found, Violation{k.last + 1, "", Sequence, err.Error()})
}

// Report says what was found so far. Claims that are held still end with their lease.
func (k *Checker) Report() Report {
	r := Report{Commits: k.commits, Instances: len(k.trails), Violations: append([]Violation{}, k.found...), Missing: []Gap{}, Failures: map[string]map[string]int{}}
	for _, g := range k.gaps {
		r.Missing = append(r.Missing, g.export())
		r.Violations = append(r.Violations, g.violation())
	}
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return cmp.Compare(a.Seq, b.Seq) })
	for id, t := range k.trails {
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
