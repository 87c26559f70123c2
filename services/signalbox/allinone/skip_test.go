package allinone_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/document/task"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestOnlyTheCTOSkipsStatesAndOnlyPeopleAbandonATask(t *testing.T) {
	withEnv(t, "", func(e *env) { // without a developer it stays where one is wanted
		e.begin("T-5", "Greet the tasks", "In the greeting.")
		e.reaches("T-5", "validated", 0)
		skip := &pb.Command{Instance: "T-5", Actor: "x-1",
			Action: &pb.Command_Override{Override: &pb.Override{To: "in_progress", Reason: "it is begun already"}}}
		for _, role := range []string{"fullstack-developer", "quality-monitor", "git-manager"} {
			_, err := e.client.DoAs(e.ctx, role, subject.Override, skip)
			if no := new(instance.Refusal); !errors.As(err, &no) || no.Code != instance.CodeForbidden {
				e.Errorf("the %s skips a state: %v, want it forbidden", role, err)
			}
		}
		if out, code := e.call("override", "T-5", "--to", "in_progress", "--reason", "I am in a hurry"); code != 1 ||
			!strings.Contains(out, "may not override") {
			e.Errorf("a person skips a state: %d %s", code, out)
		}
		further := &pb.Command{Instance: "T-5", Actor: "x-1",
			Action: &pb.Command_Override{Override: &pb.Override{To: "completed", Reason: "it is done, I think"}}}
		if _, err := e.client.DoAs(e.ctx, "cto", subject.Override, further); !errors.Is(err, &instance.Refusal{Code: instance.CodeNotPermitted}) {
			e.Errorf("the CTO skips all that is left: %v, want it refused", err)
		}
		if _, err := e.client.DoAs(e.ctx, "cto", subject.Override, skip); err != nil {
			e.Errorf("the CTO skips a state: %v", err)
		}
		moves := task.Transitions(e.history("T-5"))
		if last := moves[len(moves)-1]; last.FromState != "validated" || last.ToState != "in_progress" || last.Actor != "@agent-cto" ||
			last.Reason != "it is begun already" {
			e.Errorf("the skip is told as %+v", last)
		}
		if out, code := e.call("cancel", "T-5", "--reason", "nobody wants it"); code != 0 {
			e.Errorf("a person abandons it: %d %s", code, out)
		}
		in, err := e.client.Get(e.ctx, "T-5")
		if err != nil || in.GetClosed() != string(instance.Cancelled) || in.GetState() != "in_progress" {
			e.Errorf("%v: %s in %s, want it cancelled", err, in.GetClosed(), in.GetState())
		}
		all := e.history("T-5")
		if last := all[len(all)-1]; last.Event != task.TaskAbandoned || last.Metadata["failed"] != true || last.Reason != "nobody wants it" {
			e.Errorf("the end is the event %+v, want that of a task that was abandoned", last)
		}
		if _, err := e.client.DoAs(e.ctx, "cto", subject.Override, skip); err == nil {
			e.Errorf("what is abandoned moves")
		}
	})
}

func TestATaskAfterOneThatWasAbandonedWaitsUntilAPersonLetsItGo(t *testing.T) {
	withEnv(t, "", func(e *env) {
		file := filepath.Join(e.dir, "plan.yaml")
		write(e, file, "tasks:\n- {id: A, title: Greet the first task}\n- {id: B, title: Greet the second task, depends_on: [A]}\n")
		if out, code := e.call("plan", "import", file, "--repo", widgets); code != 0 {
			e.Errorf("plan import: %d %s", code, out)
		}
		e.reaches("plan/A", "validated", 0)
		if out, code := e.call("cancel", "plan/A"); code != 0 {
			e.Errorf("cancel: %d %s", code, out)
		}
		told := func(in *pb.Instance) bool { return len(in.GetLinks()) == 1 && in.GetLinks()[0].GetEnded() }
		if in := e.until("plan/B", "told of the end", told); in.GetState() != "pending" {
			e.Errorf("B is in %s", in.GetState())
		}
		if out, code := e.call("signal", "plan/B", "released"); code != 0 {
			e.Errorf("signal: %d %s", code, out)
		}
		e.reaches("plan/B", "validated", 0)
	})
}
