package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestFactsOfACommit(t *testing.T) {
	until := time.Unix(1000, 0)
	ended := instance.Moved{To: "done", Kind: workflow.Final, Reason: "it is merged"}
	for _, c := range []struct {
		name   string
		events []instance.Event
		want   []string // events, index and text
	}{
		{"work wakes nobody", []instance.Event{instance.Moved{To: "building", Kind: workflow.Work}, instance.Claimed{}}, nil},
		{"a question to a role is for no person", []instance.Event{instance.Asked{Number: 1, Text: "Which?", To: "analyst"}}, nil},
		{"questions are one matter with the wait that they lead to", []instance.Event{instance.Reported{}, instance.Asked{Number: 1, Text: "Which?"},
			instance.Asked{Number: 2, Text: "Since when?"}, instance.Moved{Kind: workflow.Wait, Reason: "it is asked"}}, []string{"[waits] 1 Which?\nSince when?"}},
		{"a wait without questions has its reason", []instance.Event{instance.Moved{Kind: workflow.Wait, Reason: "it is reviewed"}}, []string{"[waits] 0 it is reviewed"}},
		{"an instance may begin with a wait", []instance.Event{instance.Opened{Kind: workflow.Wait}}, []string{"[waits] 0 "}},
		{"an escalation waits for people", []instance.Event{instance.Released{}, instance.Escalated{Number: 1, Reason: "the plan is wrong", RequiresHuman: true}},
			[]string{"[waits] 1 the plan is wrong"}},
		{"a spent budget is also a wait", []instance.Event{instance.Escalated{Reason: instance.BudgetSpent + "$5", RequiresHuman: true}},
			[]string{"[budget waits] 0 The budget is spent: $5"}},
		{"a spent day parks work", []instance.Event{instance.ParkedUntil{Reason: "the day is spent", Until: until, WaitsFor: instance.ForBudget}},
			[]string{"[budget] 0 the day is spent"}},
		{"other parks do not matter", []instance.Event{instance.ParkedUntil{Reason: "no place", WaitsFor: instance.ForPlace}}, nil},
		{"an end", []instance.Event{ended}, []string{"[completed] 0 it is merged"}},
		{"an end by a failure", []instance.Event{instance.Moved{Kind: workflow.Final, Failure: true, Reason: "no answer"}}, []string{"[failed] 0 no answer"}},
		{"a cancellation is a person's own deed", []instance.Event{instance.CancelledBy{Reason: "duplicate"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range factsOf(c.events) {
				got = append(got, fmt.Sprintf("%v %d %s", f.events, f.index, f.text))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestASpentDayIsOneMatterInAllInstances(t *testing.T) {
	of := func(reason string, until int64) string {
		return factsOf([]instance.Event{instance.ParkedUntil{Reason: reason, Until: time.Unix(until, 0), WaitsFor: instance.ForBudget}})[0].shared
	}
	if a := of("spent", 1000); a != of("spent", 1000) || a == of("spent", 2000) || a == of("other", 1000) {
		t.Error("the ids are not those of the budget and its day")
	}
}

func TestAnEndIsReadWithTheInstanceAndItsLifecycle(t *testing.T) {
	const source = "workflow: w\nversion: 1\ninitial: a\nstates:\n  a: {about: A., owner: developer, next: [good, bad], decide: [{when: result.status == 'failure', to: bad, failure: true}, {to: good}]}\n  good: {final: true}\n  bad: {final: true}\n"
	def, err := workflow.Load("w", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	tested := &pb.Instance{Head: "b", Base: "a", Evidence: []*pb.Evidence{{Name: "tests", Commit: "b", Command: "go test"}}}
	for _, c := range []struct {
		name, state, want string
		in                *pb.Instance
	}{
		{"without a change", "good", "[completed]", &pb.Instance{}},
		{"with a change that no test shows to be right", "good", "[unproven completed]", tested},
		{"where only failures lead", "bad", "[failed]", tested},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := factsOf([]instance.Event{instance.Moved{To: c.state, Kind: workflow.Final}})[0]
			if !f.holds(c.in, def) || fmt.Sprint(f.events) != c.want {
				t.Errorf("%v, want %s", f.events, c.want)
			}
		})
	}
}

func TestAnInstanceThatComesAfterAnotherWaitsForNoPerson(t *testing.T) {
	for ended, want := range map[bool]bool{true: true, false: false} {
		f := factsOf([]instance.Event{instance.Moved{Kind: workflow.Wait}})[0]
		in := &pb.Instance{Links: []*pb.Link{{Kind: string(instance.After), Instance: "b", Ended: ended}}}
		if got := f.holds(in, nil); got != want {
			t.Errorf("the other has ended: %v; it waits for people: %v", ended, got)
		}
	}
}

func TestTextsOfStrangersAreHarmless(t *testing.T) {
	scanner, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	token := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	in := &pb.Instance{Instance: "acme/widgets/7", State: "waiting", Issue: &pb.Issue{Repo: "acme/widgets", Number: 7, Url: "javascript:alert(1)",
		Title: "@everyone <!channel> [click](https://evil.example) \x1b[31m\u202e" + token + strings.Repeat("x", 5000)}}
	w := writer{secrets: scanner, console: "https://console.example/"}
	n := w.write(fact{events: []string{Waits}, text: "See http://evil.example/" + token}, 12, time.Unix(0, 0), in)
	for _, text := range []string{n.plain(), n.Title, n.Text, n.URL} {
		for _, bad := range []string{token, "\x1b", "\u202e", "@everyone", "javascript"} {
			if strings.Contains(text, bad) {
				t.Errorf("it has %q: %q", bad, text)
			}
		}
	}
	for _, bad := range []string{"<!channel>", "[click]", "](", "http://evil", "https://evil"} {
		if strings.Contains(n.plain(), bad) {
			t.Errorf("the chat gets %q: %q", bad, n.plain())
		}
	}
	if len([]rune(n.Title)) > maxTitle+1 || n.ID != "12.0" || n.Issue != 7 || n.Console != "https://console.example/i/acme/widgets/7" {
		t.Errorf("%+v", n)
	}
	if !strings.HasSuffix(n.plain(), "\n"+n.Console) || !strings.HasPrefix(n.plain(), "Waits for you: ") {
		t.Errorf("the chat gets %q", n.plain())
	}
}
