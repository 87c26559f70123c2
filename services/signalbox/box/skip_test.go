package box_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/task"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestOnlyTheCTOSkipsStatesAndOnlyPeopleAbandonATask(t *testing.T) {
	live(t, "", func(w *world) { // without a developer it stays where one is wanted
		w.begin("T-5", "Greet the tasks", "In the greeting.")
		w.reaches("T-5", "validated", 0)
		skip := &pb.Command{Instance: "T-5", Actor: "x-1", Action: &pb.Command_Override{Override: &pb.Override{To: "in_progress", Reason: "it is begun already"}}}
		for _, role := range []string{"fullstack-developer", "quality-monitor", "git-manager"} {
			_, err := w.client.As(w.ctx, role, subject.Override, skip)
			if no := new(instance.Refusal); !errors.As(err, &no) || no.Code != instance.CodeForbidden {
				w.Errorf("the %s skips a state: %v, want it forbidden", role, err)
			}
		}
		if out, code := w.call("override", "T-5", "--to", "in_progress", "--reason", "I am in a hurry"); code != 1 || !strings.Contains(out, "may not override") {
			w.Errorf("a person skips a state: %d %s", code, out)
		}
		if _, err := w.client.As(w.ctx, "cto", subject.Override, skip); err != nil {
			w.Errorf("the CTO skips a state: %v", err)
		}
		moves := task.Transitions(w.told("T-5"))
		if last := moves[len(moves)-1]; last.FromState != "validated" || last.ToState != "in_progress" || last.Actor != "@agent-cto" || last.Reason != "it is begun already" {
			w.Errorf("the skip is told as %+v", last)
		}
		if out, code := w.call("cancel", "T-5", "--reason", "nobody wants it"); code != 0 {
			w.Errorf("a person abandons it: %d %s", code, out)
		}
		in, err := w.client.Get(w.ctx, "T-5")
		if err != nil || in.GetClosed() != string(instance.Cancelled) || in.GetState() != "in_progress" {
			w.Errorf("%v: %s in %s, want it cancelled", err, in.GetClosed(), in.GetState())
		}
		if _, err := w.client.As(w.ctx, "cto", subject.Override, skip); err == nil {
			w.Errorf("what is abandoned moves")
		}
	})
}

func TestATaskAfterOneThatWasAbandonedWaitsUntilAPersonLetsItGo(t *testing.T) {
	live(t, "", func(w *world) {
		file := filepath.Join(w.dir, "plan.yaml")
		write(w, file, "tasks:\n- {id: A, title: Greet the first task}\n- {id: B, title: Greet the second task, depends_on: [A]}\n")
		if out, code := w.call("plan", "import", file, "--repo", widgets); code != 0 {
			w.Errorf("plan import: %d %s", code, out)
		}
		w.reaches("plan/A", "validated", 0)
		if out, code := w.call("cancel", "plan/A"); code != 0 {
			w.Errorf("cancel: %d %s", code, out)
		}
		told := func(in *pb.Instance) bool { return len(in.GetLinks()) == 1 && in.GetLinks()[0].GetEnded() }
		if in := w.until("plan/B", "told of the end", told); in.GetState() != "pending" {
			w.Errorf("B is in %s", in.GetState())
		}
		if out, code := w.call("signal", "plan/B", "released"); code != 0 {
			w.Errorf("signal: %d %s", code, out)
		}
		w.reaches("plan/B", "validated", 0)
	})
}
