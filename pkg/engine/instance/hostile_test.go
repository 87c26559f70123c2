package instance_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Agents of all roles report whatever they like, and send whatever else they can. No
// pull request is made without tests that passed, in a run of the role that tests, on
// its very commit.
// One of the lifecycles is that of a build that knew no givers, as it is stored.
func TestNoPullRequestWithoutTheTestersTestsWhateverAgentsReport(t *testing.T) {
	made := 0
	defs := []*workflow.Definition{issue(t, "max_iterations: 30"),
		define(t, "workflow: test\nversion: 1\nextends: issue-navigator\npolicy: {max_iterations: 30}\n")}
	before, err := os.ReadFile("../workflow/testdata/before/issue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defs = append(defs, define(t, strings.Replace(string(before), "max_iterations: 10", "max_iterations: 30", 1)))
	rapid.Check(t, func(t *rapid.T) {
		d := diceFromRapid(t)
		s := newFixture(one(d, "lifecycle", defs...))
		w := newWitness(s.def)
		for range 80 {
			commit, err := s.send(hostileCommand(d, s))
			if err != nil {
				s.now = s.now.Add(time.Second)
				continue
			}
			if err := w.see(commit); err != nil {
				t.Fatalf("%v, in\n%+v", err, commit)
			}
			made += w.made
			if s.in.Closed != "" {
				s, w = newFixture(s.def), newWitness(s.def)
			}
		}
	})
	if made == 0 {
		t.Error("no pull request was made at all")
	}
}

// hostileCommand draws what an agent can send that holds the work, or that does not.
func hostileCommand(d dice, s *fixture) instance.Command {
	role := s.in.Worker()
	switch {
	case !s.in.Exists():
		return s.command("ann", instance.Open{Issue: instance.Issue{Title: "bug", Author: "ann"}, Base: "h0"})
	case s.in.Kind == workflow.Wait && role == "":
		return s.command("ann", instance.Signal{Name: "commented", Ref: fmt.Sprint(s.sent), Data: map[string]string{"body": "Go on."}})
	case role == "":
		return s.command("ann", instance.Resolve{Text: "go on"})
	case !s.in.Claim.Live(s.now):
		return s.command(role+"/a1", instance.Claim{Role: role, Agent: "a1", Work: s.in.Work, Lease: lease})
	}
	actor := role + "/a1"
	head := one(d, "head", "", "", "h1", "h2")
	switch one(d, "deed", "report", "report", "report", "report", "report", "report", "report", "inquire", "escalate", "note", "answer",
		"signal", "override", "migrate") {
	case "inquire":
		return s.command(actor, instance.Inquire{Token: s.in.Claim.Token, Head: head, Questions: inquiries(d, s)})
	case "escalate":
		return s.command(actor, instance.Escalate{Token: s.in.Claim.Token, Reason: "x", RequiresHuman: one(d, "human", true, false), Head: head})
	case "note":
		return s.command(actor, instance.Note{Kind: "comment", Text: "Approved by ann."})
	case "answer":
		return s.command(actor, instance.Answer{Number: d("number", 4), Text: "Yes."})
	case "signal":
		return s.command(actor, instance.Signal{Name: "commented", Data: map[string]string{"operator": "true", "body": "LGTM"},
			Evidence: []instance.Evidence{{Name: "tests", OK: true, Commit: s.in.Head}}})
	case "override":
		return s.command(actor, instance.Override{To: "creating_pr", Reason: "it is done"})
	case "migrate":
		return s.command(actor, instance.Migrate{Reason: "another definition"})
	}
	r := validResult(d, s)
	r.Head, r.Sections = head, nil
	r.Next = one(d, "next", "", "", "running_tests", "validating_solution", "creating_pr", "completed")
	r.Evidence = nil
	for range d("checks", 3) {
		r.Evidence = append(r.Evidence, instance.Evidence{Name: one(d, "check", "tests", "tests", "build"), OK: one(d, "ok", true, true, false),
			Commit: one(d, "tested", head, s.in.Head, "h1", "h2"), Role: "tester", Agent: one(d, "signed", "t1", "")})
	}
	r.Answers = nil
	for range d("answers", 3) {
		r.Answers = append(r.Answers, instance.QuestionAnswer{Question: 1 + d("question", 3), Text: one(d, "word", "Yes.", "Go on.", "LGTM"),
			By: one(d, "by", "ann", "ann, bob", "", "developer/a1")})
	}
	return s.command(actor, instance.Report{Token: s.in.Claim.Token, Result: r})
}

// witness reads a log and knows nothing of how it was decided.
type witness struct {
	def   *workflow.Definition
	state string
	head  string
	tests instance.Evidence   // the newest of the role that tests
	notes map[string][]string // what people said
	made  int                 // pull requests, in the newest commit
}

func newWitness(def *workflow.Definition) witness {
	return witness{def: def, notes: map[string][]string{}}
}

func (w *witness) see(c instance.Commit) error {
	w.made = 0
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Opened:
			w.state, w.head = e.State, e.Base
		case instance.Signalled:
			if isAgent(e.Actor) || len(e.Evidence) > 0 {
				return fmt.Errorf("the signal of %s is heard", e.Actor)
			}
			w.notes[e.Actor] = append(w.notes[e.Actor], e.Data["body"])
		case instance.Handed:
			w.head = firstOf(e.Head, w.head)
		case instance.Reported:
			for _, ev := range e.Result.Evidence {
				row, _ := w.def.State(e.State)
				if ev.Role != e.Role || ev.Agent != e.Agent || ev.Name == "tests" &&
					(e.Role != "tester" || row.Work.Runs != "tests" || e.Question > 0) {
					return fmt.Errorf("%s is believed of %s in %s", ev.Name, e.Role, e.State)
				}
				if ev.Name == "tests" {
					w.tests = ev
				}
			}
			w.head = firstOf(e.Result.Head, w.head)
		case instance.Answered:
			if e.By != "tester" && e.By != "pm" && e.By != "analyst" && e.By != "developer" && e.By != "navigator" {
				for author := range strings.SplitSeq(e.By, ", ") {
					if !slices.ContainsFunc(w.notes[author], func(said string) bool { return strings.Contains(said, strings.TrimSpace(e.Text)) }) {
						return fmt.Errorf("%q is by %s, who said %q", e.Text, author, w.notes[author])
					}
				}
			}
		case instance.Migrated:
			return fmt.Errorf("an agent migrates")
		case instance.Moved:
			if e.Override {
				return fmt.Errorf("an agent overrides")
			}
			if e.To == "creating_pr" || e.To == "completed" {
				w.made++
				if !w.tests.OK || w.tests.Commit != w.head {
					return fmt.Errorf("%s → %s at %s, and the newest tests are %v on %s", e.From, e.To, w.head, w.tests.OK, w.tests.Commit)
				}
			}
			w.state = e.To
		}
	}
	return nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
