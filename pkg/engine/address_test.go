package engine_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// What a commit is stored under is who has to read it.
func TestACommitIsAddressedToWhoHasToReadIt(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	at := func(want string, wakes bool) {
		t.Helper()
		all := w.commits("a")
		if last := all[len(all)-1]; last.State != want || last.Wakes != wakes {
			t.Errorf("it is stored under %s, wakes: %v; want %s, %v", last.State, last.Wakes, want, wakes)
		}
	}
	in := w.do(e, "a", open("a chore")).Instance
	at("todo", true)
	in = w.do(e, "a", take("worker", in.Work)).Instance
	at("todo", false)
	in = w.do(e, "a", instance.Inquire{Token: in.Claim.Token, Questions: []instance.Inquiry{{To: "judge", Question: "Which one?"}}}).Instance
	at("@judge", true)
	in = w.do(e, "a", take("judge", in.Work)).Instance
	at("todo", false)
	in = w.do(e, "a", instance.Report{Token: in.Claim.Token, Result: instance.Result{Status: instance.Success, Summary: "The red one."}}).Instance
	at("todo", true)
	in = w.do(e, "a", take("worker", in.Work)).Instance
	w.do(e, "a", instance.Escalate{Token: in.Claim.Token, Reason: "for your information"})
	at("todo", false)
	in = w.do(e, "a", instance.Escalate{Token: in.Claim.Token, Reason: "nobody knows", RequiresHuman: true}).Instance
	at("@people", false)
	w.refused(e, cmd("c", "a", take("worker", in.Work)), instance.CodePaused)
	w.do(e, "a", instance.Resolve{Text: "go on"})
	at("todo", true)
}
