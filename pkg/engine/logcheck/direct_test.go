package logcheck_test

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func claimedDirectly(token uint64, role, agent string, until int) instance.Claimed {
	c := claimed(token, role, agent, until)
	c.Direct = true
	return c
}

// directScript is a sound log: work that is claimed directly, reported, lapsed and
// released.
func directScript(d *workflow.Definition) []step {
	lapsed := todo
	lapsed.Reason = "the lease of eve ran out"
	which := instance.Asked{Number: 1, From: "worker", Text: "Which?", To: "judge"}
	return []step{
		{0, "a", events(opened(d), todo, claimedDirectly(1, "worker", "eve", 10))}, // 1
		{9, "a", events(instance.LeaseExtended{Token: 1, Lease: atSecond(19)})},    // 2
		{19, "a", events(lapsed)},                          // 3: to the queue
		{20, "a", events(claimed(2, "worker", "bob", 30))}, // 4
		{21, "a", events(reported(2, "worker", "bob", "todo"), toIt, check, claimedDirectly(3, "judge", "pat", 31))}, // 5
		{22, "a", events(instance.Released{Token: 3, Agent: "pat"}, check, claimedDirectly(4, "judge", "joe", 32))},  // 6
		{23, "a", events(instance.Released{Token: 4, Agent: "joe", Fault: true})},                                    // 7
		{24, "a", events(check)}, // 8: given back
		{25, "b", events(opened(d), todo, claimedDirectly(1, "worker", "eve", 35))}, // 9
		{26, "b", events(instance.Released{Token: 1, Agent: "eve"}, which, instance.Dispatched{State: "todo", Owner: "judge", Question: 1})},
		// 10
	}
}

func TestALogOfWorkThatIsGivenDirectlyHasNoViolations(t *testing.T) {
	d := smallLifecycle(t)
	r := checkAll(commitsOf(t, directScript(d)), d)
	for _, v := range r.Violations {
		t.Error(v)
	}
	want := []logcheck.Interval{
		{1, "a", "todo", "worker", "eve", 1, atSecond(0), atSecond(19)}, {4, "a", "todo", "worker", "bob", 2, atSecond(20), atSecond(21)},
		{5, "a", "check", "judge", "pat", 3, atSecond(21), atSecond(22)}, {6, "a", "check", "judge", "joe", 4, atSecond(22), atSecond(23)},
		{9, "b", "todo", "worker", "eve", 1, atSecond(25), atSecond(26)},
	}
	if diff := gocmp.Diff(want, r.Claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

// Each fault is planted in the sound script, or in what was stored of it.
func TestWhatIsNotGivenDirectlyIsNamed(t *testing.T) {
	d := smallLifecycle(t)
	put := func(i int, e ...instance.Event) func([]step) []step {
		return func(s []step) []step { s[i-1].events = e; return s }
	}
	toJudge := instance.Dispatched{State: "todo", Owner: "judge", Question: 1}
	for name, c := range map[string]struct {
		plant func([]step) []step
		store func([]eventstore.Commit)
		want  []string
	}{
		"a claim by a later commit": {plant: put(4, claimedDirectly(2, "worker", "bob", 30)), want: []string{"4 a direct"}},
		"a claim before the work": {plant: put(5, reported(2, "worker", "bob", "todo"), toIt, claimedDirectly(3, "judge", "pat", 31), check),
			want: []string{"5 a direct", "5 a direct"}},
		"a claim of what a role is asked": {plant: put(10, instance.Released{Token: 1, Agent: "eve"}, instance.Asked{Number: 1, To: "judge"},
			toJudge, claimedDirectly(2, "judge", "pat", 36)),
			want: []string{"10 b direct"}},
		"work that lapses while it is held": {plant: func(s []step) []step { s[2].at = 18; return s }, want: []string{"3 a direct"}},
		"work given again under a live claim": {plant: func(s []step) []step {
			return slices.Insert(s, 5, step{21, "a", events(check)})
		}, want: []string{"6 a direct"}},
		"work that wakes others": {store: func(log []eventstore.Commit) {
			log[9].Wakes = false // what a role is asked
			log[9].Chain = eventstore.NextChain(log[8].Chain, log[9])
			log[7].Wakes = false // what lapsed
			log[7].Chain = eventstore.NextChain(log[6].Chain, log[7])
		}, want: []string{"8 a subject", "10 b subject"}},
		"what was given directly in a queue": {store: func(log []eventstore.Commit) {
			log[8].Wakes = true
			log[8].Chain = eventstore.NextChain("", log[8])
			log[9].Chain = eventstore.NextChain(log[8].Chain, log[9])
		}, want: []string{"9 b subject"}},
	} {
		t.Run(name, func(t *testing.T) {
			steps := directScript(d)
			if c.plant != nil {
				steps = c.plant(steps)
			}
			log := commitsOf(t, steps)
			if c.store != nil {
				c.store(log)
			}
			r := checkAll(log, d)
			if diff := gocmp.Diff(c.want, formatViolations(r)); diff != "" {
				t.Errorf("violations (-want +got):\n%s%v", diff, r.Violations)
			}
		})
	}
}
