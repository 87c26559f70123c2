package logcheck_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// step is one commit of a script.
type step struct {
	at       int // seconds after nine
	instance string
	events   []instance.Event
}

// smallLifecycle is a small lifecycle.
func smallLifecycle(t *testing.T) *workflow.Definition {
	t.Helper()
	return load(t, tableSource)
}

const tableSource = `
workflow: chore
version: 1
initial: todo
limits: [{name: enough, when: "instance.returns >= 3", to: done}]
states:
  todo:
    owner: worker
    next: [check, done]
    decide: [{when: "result.status == 'success'", to: check}, {to: done}]
  check:
    owner: judge
    next: [todo, done]
    decide: [{when: "result.status == 'success'", to: done}, {to: todo}]
  done: {final: true}
`

func atSecond(second int) time.Time { return time.Date(2026, 1, 2, 9, 0, second, 0, time.UTC) }

func opened(d *workflow.Definition) instance.Opened {
	return instance.Opened{Workflow: "chore", Definition: d.Hash, State: "todo", Owner: "worker", Kind: workflow.Work}
}

func claimed(token uint64, role, agent string, until int) instance.Claimed {
	return instance.Claimed{Token: token, Role: role, Agent: agent, Lease: atSecond(until)}
}

func reported(token uint64, role, agent, state string) instance.Reported {
	return instance.Reported{Token: token, Role: role, Agent: agent, State: state, Result: instance.Result{Status: instance.Success}}
}

var (
	todo   = instance.Dispatched{State: "todo", Owner: "worker"}
	check  = instance.Dispatched{State: "check", Owner: "judge"}
	toIt   = instance.Moved{From: "todo", To: "check", Owner: "judge", Kind: workflow.Work}
	toDone = instance.Moved{From: "check", To: "done", Kind: workflow.Final}
)

func events(all ...instance.Event) []instance.Event { return all }

// smallScript is a sound log: two instances, a lapsed lease, a heartbeat, a
// release, a pause and a note after the end.
func smallScript(d *workflow.Definition) []step {
	return []step{
		{0, "a", events(opened(d), todo)},                                                                 // 1
		{1, "b", events(opened(d), todo)},                                                                 // 2
		{2, "a", events(claimed(1, "worker", "eve", 12))},                                                 // 3
		{3, "b", events(claimed(1, "worker", "bob", 13))},                                                 // 4
		{9, "a", events(instance.LeaseExtended{Token: 1, Lease: atSecond(19)})},                           // 5
		{13, "b", events(claimed(2, "worker", "eve", 23))},                                                // 6: bob's lease ended just now
		{15, "a", events(reported(1, "worker", "eve", "todo"), toIt, check)},                              // 7
		{16, "b", events(instance.Released{Token: 2, Agent: "eve"})},                                      // 8
		{16, "b", events(instance.Paused{Reason: "lunch"})},                                               // 9
		{17, "a", events(claimed(2, "judge", "pat", 27))},                                                 // 10
		{18, "b", events(instance.Resumed{}, todo)},                                                       // 11
		{20, "a", events(reported(2, "judge", "pat", "check"), toDone)},                                   // 12
		{21, "a", events(instance.Noted{Author: "ann", Text: "thanks"})},                                  // 13
		{22, "b", events(instance.Moved{From: "todo", To: "done", Kind: workflow.Final, Override: true})}, // 14
	}
}

// commitsOf returns the commits of a script as an engine stores them.
func commitsOf(t *testing.T, script []step) []eventstore.Commit {
	t.Helper()
	heads := map[string]eventstore.Commit{}
	state, lifecycle := map[string]string{}, map[string]string{}
	var log []eventstore.Commit
	for i, s := range script {
		data, err := wire.Events("test", s.events)
		if err != nil {
			t.Fatal(err)
		}
		wakes, to := false, ""
		for _, e := range s.events {
			switch e := e.(type) {
			case instance.Opened:
				state[s.instance], lifecycle[s.instance] = e.State, e.Workflow
			case instance.Moved:
				state[s.instance] = e.To
			case instance.Dispatched:
				if wakes = true; e.Question > 0 {
					to = "@" + e.Owner
				}
			case instance.Claimed:
				wakes = wakes && !e.Direct
			case instance.Escalated:
				if e.RequiresHuman {
					to = "@people"
				}
			}
		}
		last := heads[s.instance]
		c := eventstore.Commit{
			ID: fmt.Sprintf("c%d", i+1), Workflow: cmp.Or(lifecycle[s.instance], "chore"), State: cmp.Or(to, state[s.instance], "todo"),
			Instance: s.instance, Wakes: wakes,
			Time: atSecond(s.at), Prev: last.Seq, Data: data, Seq: uint64(i + 1),
		}
		c.Chain = eventstore.NextChain(last.Chain, c)
		heads[s.instance] = c
		log = append(log, c)
	}
	return log
}

// formatViolations returns a report's violations as "sequence instance rule".
func formatViolations(r logcheck.Report) []string {
	var all []string
	for _, v := range r.Violations {
		all = append(all, fmt.Sprintf("%d %s %s", v.Seq, v.Instance, v.Rule))
	}
	return all
}

func TestASoundLogHasNoViolationsAndItsClaimsAreTold(t *testing.T) {
	d := smallLifecycle(t)
	r := checkAll(commitsOf(t, smallScript(d)), d)
	for _, v := range r.Violations {
		t.Error(v)
	}
	if r.Commits != 14 || r.Instances != 2 {
		t.Errorf("it has %d commits and %d instances", r.Commits, r.Instances)
	}
	want := []logcheck.Interval{
		{3, "a", "todo", "worker", "eve", 1, atSecond(2), atSecond(15)},  // reported within the lease as extended
		{4, "b", "todo", "worker", "bob", 1, atSecond(3), atSecond(13)},  // lapsed
		{6, "b", "todo", "worker", "eve", 2, atSecond(13), atSecond(16)}, // released
		{10, "a", "check", "judge", "pat", 2, atSecond(17), atSecond(20)},
	}
	if diff := gocmp.Diff(want, r.Claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

// Each fault is planted in the sound script before it is stored.
func TestWhatTheEngineMustNotWriteIsNamed(t *testing.T) {
	d := smallLifecycle(t)
	put := func(i int, e ...instance.Event) func([]step) []step {
		return func(s []step) []step { s[i-1].events = e; return s }
	}
	insert := func(at int, new step) func([]step) []step {
		return func(s []step) []step { return slices.Insert(s, at-1, new) }
	}
	bad := toIt
	for name, c := range map[string]struct {
		plant func([]step) []step
		want  []string
	}{
		"a move the table does not have": {put(12, reported(2, "judge", "pat", "check"),
			instance.Moved{From: "check", To: "check", Owner: "judge", Kind: workflow.Work}, check), []string{"12 a table"}},
		"a move into no state": {
			put(12, reported(2, "judge", "pat", "check"), instance.Moved{From: "check", To: "paradise", Kind: workflow.Wait}),
			[]string{"12 a table", "12 a table"}},
		"a move out of another state": {put(7, reported(1, "worker", "eve", "todo"),
			instance.Moved{From: "check", To: "todo", Owner: "worker", Kind: workflow.Work}, todo),
			[]string{"7 a from", "10 a owner", "12 a from", "12 a from"}},
		"a state given to another role": {put(7, reported(1, "worker", "eve", "todo"),
			func() instance.Moved { bad.Owner = "worker"; return bad }()), []string{"7 a table", "10 a owner"}},
		"a claim while another holds it": {insert(7, step{14, "b", events(claimed(3, "worker", "joe", 24))}),
			[]string{"7 b overlap", "9 b fence"}},
		"a claim right before the lease ends": {func(s []step) []step { s[5].at = 12; return s }, []string{"6 b overlap"}},
		"a claim right before an extended end": {insert(7, step{14, "a", events(claimed(2, "worker", "joe", 24))}),
			[]string{"7 a overlap", "8 a fence", "11 a token"}},
		"a token given twice":      {put(6, claimed(1, "worker", "eve", 23)), []string{"6 b token", "8 b fence"}},
		"a token that falls":       {put(6, claimed(0, "worker", "eve", 23)), []string{"6 b token", "8 b fence"}},
		"a report without a claim": {insert(3, step{1, "a", events(reported(1, "worker", "eve", "todo"))}), []string{"3 a fence"}},
		"a report with a past token": {insert(7, step{14, "b", events(reported(1, "worker", "bob", "todo"))}),
			[]string{"7 b fence", "9 b fence"}},
		"a report after the lease": {func(s []step) []step {
			s[4].events = events(instance.LeaseExtended{Token: 1, Lease: atSecond(14)})
			return s
		}, []string{"7 a fence"}},
		"a report at the moment the lease ends": {put(5, instance.LeaseExtended{Token: 1, Lease: atSecond(15)}), []string{"7 a fence"}},
		"a report by another agent":             {put(12, reported(2, "judge", "eve", "check"), toDone), []string{"12 a fence"}},
		"a report of another state":             {put(12, reported(2, "judge", "pat", "todo"), toDone), []string{"12 a from"}},
		"a heartbeat with a past token": {insert(7, step{14, "b", events(instance.LeaseExtended{Token: 1, Lease: atSecond(40)})}),
			[]string{"7 b fence"}},
		"a past lease that is prolonged": {insert(7, step{14, "b", events(instance.LeaseExtended{Token: 1, Lease: atSecond(40), Lapsed: true})}),
			[]string{"7 b fence"}},
		"a heartbeat after the lease": {func(s []step) []step { s[4].at = 12; return s }, []string{"5 a fence", "7 a fence"}},
		"a release with a past token": {put(8, instance.Released{Token: 1, Agent: "bob"}), []string{"8 b fence"}},
		"a release of what was released": {insert(9, step{16, "b", events(instance.Released{Token: 2, Agent: "eve"})}),
			[]string{"9 b fence"}},
		"a report on a claim that a pause revoked": {func(s []step) []step {
			s[7].events = events(instance.Noted{})
			return slices.Insert(s, 9, step{17, "b", events(reported(2, "worker", "eve", "todo"))})
		}, []string{"10 b fence"}},
		"a report on a claim that a move revoked": {insert(12,
			step{19, "a", events(instance.Moved{From: "check", To: "todo", Owner: "worker", Kind: workflow.Work})}),
			[]string{"13 a fence", "13 a from", "13 a from"}},
		"a claim while paused":    {insert(10, step{17, "b", events(claimed(3, "worker", "joe", 24))}), []string{"10 b pause"}},
		"work while paused":       {insert(10, step{17, "b", events(todo)}), []string{"10 b pause"}},
		"a claim by another role": {put(3, claimed(1, "judge", "eve", 12)), []string{"3 a owner", "7 a fence"}},
		"a claim of what nobody owns": {insert(15, step{23, "a", events(claimed(3, "judge", "pat", 30))}),
			[]string{"15 a end", "15 a owner"}},
		"work for another role": {put(1, opened(d), check), []string{"1 a owner"}},
		"a move after the end": {put(13, instance.Moved{From: "done", To: "todo", Owner: "worker", Kind: workflow.Work,
			Override: true}), []string{"13 a end"}},
		"a move after a cancellation":       {put(11, instance.CancelledBy{}), []string{"14 b end"}},
		"an instance opened twice":          {insert(3, step{1, "a", events(opened(d), todo)}), []string{"3 a opening"}},
		"an instance that was never opened": {put(1, instance.Noted{Text: "hm"}), []string{"1 a opening"}},
		"an instance that begins in the middle": {put(1,
			func() instance.Opened { o := opened(d); o.State, o.Owner = "check", "judge"; return o }(), check),
			[]string{"1 a opening", "3 a owner", "7 a from", "7 a from"}},
		"a definition nobody knows": {put(1, func() instance.Opened { o := opened(d); o.Definition = "c0ffee"; return o }(), todo),
			[]string{"1 a definition"}},
		"time that runs back":     {func(s []step) []step { s[4].at = 1; return s }, []string{"5 a time"}},
		"a commit without events": {put(13), []string{"13 a body"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkAll(commitsOf(t, c.plant(smallScript(d))), d)
			if diff := gocmp.Diff(c.want, formatViolations(r)); diff != "" {
				t.Errorf("violations (-want +got):\n%s%v", diff, r.Violations)
			}
		})
	}
}

// Each fault is planted in what was stored.
func TestWhatIsDoneToTheLogIsNamed(t *testing.T) {
	d := smallLifecycle(t)
	rechain := func(log []eventstore.Commit, i int) {
		prev := ""
		for _, c := range log[:i] {
			if c.Instance == log[i].Instance {
				prev = c.Chain
			}
		}
		log[i].Chain = eventstore.NextChain(prev, log[i])
	}
	for name, c := range map[string]struct {
		plant func([]eventstore.Commit) []eventstore.Commit
		want  []string
	}{
		"a commit that is gone": {func(log []eventstore.Commit) []eventstore.Commit { return slices.Delete(log, 4, 5) },
			[]string{"5 a sequence", "7 a chain"}},
		"a beginning that is gone": {func(log []eventstore.Commit) []eventstore.Commit { return log[1:] },
			[]string{"1 a sequence", "3 a chain"}},
		"two commits swapped": {func(log []eventstore.Commit) []eventstore.Commit { log[12], log[13] = log[13], log[12]; return log },
			[]string{"13 a sequence", "13  sequence"}},
		"changed data": {func(log []eventstore.Commit) []eventstore.Commit { log[12].Data = log[13].Data[:0]; return log },
			[]string{"13 a chain", "13 a body"}},
		"a pointer to another past": {func(log []eventstore.Commit) []eventstore.Commit { log[6].Prev = 3; return log }, []string{"7 a chain"}},
		"a chain that is broken": {func(log []eventstore.Commit) []eventstore.Commit { log[12].Chain = log[0].Chain; return log },
			[]string{"13 a chain"}},
		"a body that is none": {func(log []eventstore.Commit) []eventstore.Commit {
			log[12].Data = []byte("\xff\xff")
			rechain(log, 12)
			return log
		}, []string{"13 a body"}},
		"an event of another build": {func(log []eventstore.Commit) []eventstore.Commit {
			log[12].Data = []byte{0x12, 0x04, 0xba, 0x3e, 0x01, 0x61} // Commit.events: {field 999: "a"}
			rechain(log, 12)
			return log
		}, []string{"13 a body"}},
		"a command that made two commits": {func(log []eventstore.Commit) []eventstore.Commit {
			log[13].ID = log[8].ID
			rechain(log, 13)
			return log
		}, []string{"14 b command"}},
		"a command that made commits of two instances": {func(log []eventstore.Commit) []eventstore.Commit {
			log[12].ID = log[1].ID
			rechain(log, 12)
			return log
		}, []string{"13 a command"}},
		"a state that is not the one it is in": {func(log []eventstore.Commit) []eventstore.Commit {
			log[12].State = "todo"
			rechain(log, 12)
			return log
		}, []string{"13 a subject"}},
		"work that wakes nobody": {func(log []eventstore.Commit) []eventstore.Commit {
			log[10].Wakes = false
			rechain(log, 10)
			log[13].Chain = eventstore.NextChain(log[10].Chain, log[13])
			return log
		}, []string{"11 b subject"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkAll(c.plant(commitsOf(t, smallScript(d))), d)
			if diff := gocmp.Diff(c.want, formatViolations(r)); diff != "" {
				t.Errorf("violations (-want +got):\n%s%v", diff, r.Violations)
			}
		})
	}
}
