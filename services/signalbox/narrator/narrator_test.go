package narrator_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire/wiretest"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
)

func TestNoEventIsNarratedAsUnknown(t *testing.T) {
	for name, event := range wiretest.Events(t) {
		var out strings.Builder
		narrator.New(&out, false, 0).Commit(client.LogEntry{Commit: instance.Commit{Events: []instance.Event{event}}})
		if strings.Contains(out.String(), "unknown") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}

// hostile has escapes that set a title and a colour, a bell, and what overwrites a line.
const hostile = "x\x1b]0;title\a\x1b[31m\u009b2J\rover\u202ewritten"

func TestTextsOfOthersDoNotSteerTheTerminal(t *testing.T) {
	commit := func(events ...instance.Event) func(*narrator.Narrator) {
		return func(n *narrator.Narrator) {
			n.Commit(client.LogEntry{Commit: instance.Commit{Actor: hostile, Events: events}})
		}
	}
	job := agent.Job{Assignment: brain.Assignment{Role: hostile, State: hostile}}
	for name, say := range map[string]func(*narrator.Narrator){
		"title":    commit(instance.Opened{State: "a", Issue: instance.Issue{Title: hostile}}),
		"reason":   commit(instance.Moved{To: "b", Reason: hostile}),
		"summary":  commit(instance.Reported{Role: hostile, Result: instance.Result{Summary: hostile}}, instance.Moved{To: "b"}),
		"signal":   commit(instance.Signalled{Actor: hostile}, instance.Moved{To: hostile, Reason: "r"}),
		"pause":    commit(instance.Paused{Reason: hostile}),
		"cancel":   commit(instance.CancelledBy{Reason: hostile}),
		"gate":     commit(instance.GateRefused{Gate: hostile, Reason: hostile}),
		"proposal": commit(instance.ProposalRefused{Proposed: hostile, From: hostile}),
		"statement": commit(instance.StatementRefused{What: hostile, Name: hostile, Role: hostile, Agent: hostile,
			Permitted: []string{hostile}}),
		"loop":       commit(instance.LoopDetected{Reason: hostile}),
		"question":   commit(instance.Asked{To: hostile, From: hostile, Text: hostile}),
		"escalation": commit(instance.Escalated{Agent: hostile, Reason: hostile}),
		"resolution": commit(instance.Resolved{By: hostile, Text: hostile}),
		"parked":     commit(instance.ParkedUntil{Reason: hostile}),
		"spawned":    commit(instance.Spawned{Workflow: hostile, Instance: hostile}),
		"progress":   func(n *narrator.Narrator) { n.Progressed(job, hostile) },
		"fault":      func(n *narrator.Narrator) { n.Ended(job, instance.Result{}, errors.New(hostile), 0) },
		"word":       func(n *narrator.Narrator) { n.Say("%s", hostile) },
		"heading":    func(n *narrator.Narrator) { n.Title("%s", hostile) },
		"quote":      func(n *narrator.Narrator) { n.Quote(hostile) },
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			say(narrator.New(&out, true, 0))
			said := regexp.MustCompile(`\x1b\[(?:0|1|2|32|33|36)m|\x1b\[31m( *(?:→|gate|cancelled|‹|x‹|    x))`).ReplaceAllString(out.String(), "$1")
			if !strings.Contains(said, "x‹U+001B›]0;title") {
				t.Errorf("the text is not there: %q", said)
			}
			if i := strings.IndexFunc(said, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' }); i >= 0 {
				t.Errorf("it says %q, of %q", said[i:], out.String())
			}
		})
	}
}

func TestOnlyAFaultIsNarrated(t *testing.T) {
	job := agent.Job{Assignment: brain.Assignment{Role: "triage", State: "triage"}}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		err  error
		says bool
	}{
		"work that is done":       {nil, false},
		"a question to a role":    {&agent.ErrAsk{Questions: []instance.Inquiry{{To: "analyst", Question: "Where?"}}}, false},
		"an escalation to people": {&agent.ErrEscalate{Reason: "It touches the login.", RequiresHuman: true}, false},
		"a fault":                 {broken, true},
		"a fault on the way":      {errors.Join(broken, brain.ErrInfrastructure), true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			narrator.New(&out, false, 0).Ended(job, instance.Result{}, c.err, 0)
			if says := strings.Contains(out.String(), "broken"); says != c.says || (out.Len() > 0) != c.says {
				t.Errorf("it says %q", out.String())
			}
		})
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	for _, width := range []int{80, 120} {
		var out bytes.Buffer
		n := narrator.New(&out, false, width)
		n.Quote(strings.Repeat("word ", 60) + strings.Repeat("x", 60))
		n.Commit(client.LogEntry{Commit: instance.Commit{Events: []instance.Event{
			instance.Moved{From: "a", To: "waiting_for_requirements_clarification", Reason: strings.Repeat("because ", 40)},
			instance.Answered{Number: 1}, instance.Answered{Number: 2}}}})
		n.Progressed(agent.Job{Assignment: brain.Assignment{State: "waiting_for_requirements_clarification", Role: "solution-validator"}}, strings.Repeat("so ", 90))
		for line := range strings.Lines(out.String()) {
			if got := utf8.RuneCountInString(strings.TrimRight(line, "\n")); got > width+len("solution-validator")-10 {
				t.Errorf("%d of %d characters: %s", got, width, line)
			}
		}
		if strings.Contains(out.String(), "… …") {
			t.Errorf("a cut line ends twice:\n%s", out.String())
		}
		if !strings.Contains(out.String(), "→ waiting_for") || !strings.Contains(out.String(), strings.Repeat("x", 60)) {
			t.Errorf("too much is cut:\n%s", out.String())
		}
	}
}

func TestAnswersOfOneReportAreOneLine(t *testing.T) {
	var out bytes.Buffer
	narrator.New(&out, false, 0).Commit(client.LogEntry{Commit: instance.Commit{Events: []instance.Event{
		instance.Reported{Role: "pm", Result: instance.Result{Summary: "Answered: Q1, Q2."}}, instance.Answered{Number: 1}, instance.Answered{Number: 2}}}})
	if n := strings.Count(out.String(), "Answered"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, out.String())
	}
}
