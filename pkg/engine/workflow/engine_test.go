package workflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// TestWhatIsProvenEndsInTheEngine draws lifecycles and, of those that Verify has
// proven, plays runs in which agents do and say anything, deadlines pass, and
// nobody outside says a word: each ends, waits for a person, or is put before people.
func TestWhatIsProvenEndsInTheEngine(t *testing.T) {
	const most = 600 // moves; the bounds drawn allow far fewer
	proven := 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawn(t)
		d, err := workflow.Load("drawn.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, p := range workflow.Verify(d) {
			if strings.Contains(p.Text, "for ever") || strings.Contains(p.Text, "lead round") {
				return // what it might do is not proven
			}
		}
		proven++
		in := play(t, d, most)
		if in.Iteration >= most {
			t.Fatalf("a run of %d moves of\n%s\nlast %v", in.Iteration, text, in.Previous.Last(20))
		}
	})
	if t.Logf("%d lifecycles are proven", proven); proven == 0 {
		t.Error("none is")
	}
}

// drawn is a lifecycle over at most four states and an end.
func drawn(t *rapid.T) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	likely := func(label string, percent int) bool { return rapid.IntRange(1, 100).Draw(t, label) <= percent }
	states := []string{"a", "b", "c", "d"}[:rapid.IntRange(2, 4).Draw(t, "states")]
	timed := likely("timed", 40)
	to := func() string {
		if likely("previous", 8) {
			return fmt.Sprintf("to: [$previous, %s]", pick("to", states...))
		}
		return "to: " + pick("to", append(states, "end")...)
	}
	does := func(stays ...string) string {
		switch {
		case likely("escalates", 5):
			return "escalate: true"
		case likely("stays", 8):
			return "stay: " + pick("stay", stays...)
		}
		s := to()
		if likely("failure", 45) {
			s += ", failure: true"
		}
		if likely("fresh", 10) {
			s += ", fresh: true"
		}
		if likely("set", 10) {
			s += ", set: {flag: " + pick("flag", "true", "false") + "}"
		}
		return s
	}
	bound := func() string {
		s := pick("counted", states...)
		return `"` + pick("bound", "instance.returns > policy.most", "instance.iteration > 9", "instance.failures >= policy.most", "instance.failures > 1 || vars.flag",
			fmt.Sprintf("'%s' in instance.visits && instance.visits['%s'] > policy.most", s, s), "instance.loop", "vars.flag && instance.returns > 1") + `"`
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("workflow: drawn\nversion: 1\ninitial: a\npolicy: {most: 2}\nvars: {flag: false}\nloop: {window: 3, distinct: 2}\nlimits:")
	for i := range rapid.IntRange(1, 3).Draw(t, "limits") {
		line("  - {name: l%d, when: %s, %s}", i, bound(), pick("limit", "escalate: true", "to: end", "to: "+pick("to", states...)))
	}
	if likely("gated", 25) {
		line("gates: [{name: g, to: %s, require: vars.flag, instead: %s}]", pick("gated", append(states, "end")...), pick("instead", states...))
	}
	line("states:")
	for _, s := range states {
		line("  %s:\n    next: [%s, end]", s, strings.Join(states, ", "))
		if timed {
			line("    timeout: 1h")
		}
		if likely("always", 25) {
			line("    always: [{when: %s, %s}]", bound(), does("signal", "1h"))
		}
		line("    on:\n      commented: %s", pick("commented", states...))
		if timed && likely("reacts", 20) {
			line("      timeout_alert: [{%s}]", does("now", "signal"))
		}
		if likely("waits", 25) {
			continue
		}
		if likely("claimed", 15) {
			line("      claimed: [{when: vars.flag, to: %s}]", pick("claimed", states...))
		}
		line("    owner: dev\n    proposes: %t\n    decide:", likely("proposes", 25))
		for range rapid.IntRange(0, 2).Draw(t, "rules") {
			line("      - {when: %s, %s}", pick("when", "result.status == 'success'", "result.status == 'blocked'", "vars.flag"), does("signal", "1h"))
		}
		line("      - {%s}", does("signal", "1h"))
	}
	line("  end: {final: true}")
	return b.String()
}

// play has an instance do what it can by itself and by its owner, until it can do
// no more or has moved so often.
func play(t *rapid.T, d *workflow.Definition, most int) instance.Instance {
	in := instance.Instance{ID: "i"}
	now, ids := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0
	do := func(a instance.Action) bool {
		ids++
		events, err := instance.Decide(d, in, instance.Command{ID: fmt.Sprint(ids), Instance: "i", At: now, Actor: "dev", Do: a})
		if err == nil {
			in = instance.Evolve(in, instance.Commit{Seq: in.Seq + 1, At: now, Events: events})
		}
		return err == nil
	}
	do(instance.Open{Issue: instance.Issue{Title: "x"}})
	// An agent that varies little goes round longest.
	habit := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 12).Draw(t, "habit")
	for step := 0; in.Iteration < most && in.Closed == "" && step < 20*most; step++ {
		turn := habit[step%len(habit)]
		_, held := in.Escalation()
		level := []workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation}[turn%3]
		switch {
		case held:
			return in
		case in.Timeout > 0 && turn%5 == 0:
			now = now.Add(2 * in.Timeout)
			do(instance.Expire{Entered: in.Entered, Level: level})
			continue
		case in.Parked != nil && in.Parked.Until.IsZero():
			return in // until a person says something
		case in.Parked != nil:
			now = in.Parked.Until
			if do(instance.Wake{Until: now}); in.Parked != nil {
				return in
			}
			return in // time was waited for
		case in.Kind == workflow.Wait:
			now = now.Add(2 * time.Hour)
			moved := slices.ContainsFunc([]workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation}, func(l workflow.Level) bool {
				return do(instance.Expire{Entered: in.Entered, Level: l})
			})
			if !moved {
				return in
			}
			continue
		}
		do(instance.Claim{Role: "dev", Agent: "dev-1", Work: in.Work, Lease: time.Hour})
		if in.Claim == nil {
			continue
		}
		r := instance.Result{Status: []instance.Status{instance.Success, instance.Failure, instance.Blocked}[turn%3], Data: map[string]string{}}
		if turn%7 < 2 {
			r.Data["flag"] = []string{"true", "false"}[turn%2]
		}
		if turn%4 == 0 {
			r.Next = d.StateNames()[turn%len(d.StateNames())]
		}
		do(instance.Report{Token: in.Claim.Token, Result: r})
	}
	return in
}
