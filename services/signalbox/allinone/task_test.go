package allinone_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/document/task"
)

// The developers are programs. The first one succeeds; the second one succeeds when
// the CTO gave guidance; the third one when a person has said something.
const (
	able   = "echo \"$SIGNALBOX_INSTANCE\" >> greeting\n"
	guided = "grep -q '\"guidance\"' \"$SIGNALBOX_ASSIGNMENT\" || { echo '{\"status\": \"failure\"}' > \"$SIGNALBOX_RESULT\"; exit 0; }\n" + able
	lost   = "grep -q 'try the greeting' \"$SIGNALBOX_ASSIGNMENT\" || { echo '{\"status\": \"failure\"}' > \"$SIGNALBOX_RESULT\"; exit 0; }\n" + able
)

const straight = "assigned planning validated in_progress testing quality_review approved committing completed"

func TestATaskGoesStraightToABranchOnTheForge(t *testing.T) {
	withEnv(t, able, func(e *env) {
		e.begin("T-1", "Greet the tasks", "In the greeting.")
		e.reaches("T-1", "completed", 0)
		if got := e.moves("T-1"); got != straight {
			e.Errorf("it went through %s, want %s", got, straight)
		}
		if got := e.file("signalbox/task-T-1", "greeting"); got != "hello\nT-1\n" {
			e.Errorf("the branch says %q", got)
		}
	})
}

func TestATaskThatFailsThreeTimesGoesOnWithTheCTOsGuidance(t *testing.T) {
	withEnv(t, guided, func(e *env) {
		e.begin("T-2", "Greet the tasks", "In the greeting.")
		e.reaches("T-2", "completed", 0)
		want := "assigned planning validated in_progress in_progress in_progress cto_intervention in_progress testing quality_review approved committing completed"
		if got := e.moves("T-2"); got != want {
			e.Errorf("it went through %s, want %s", got, want)
		}
		counted := map[task.Kind]int{}
		for _, event := range e.history("T-2") {
			counted[event.Event]++
		}
		if counted[task.FailureIncrement] != 3 || counted[task.CTOIntervention] != 1 || counted[task.AgentAssignment] < 7 {
			e.Errorf("told of %v, want 3 failures, 1 intervention and an assignment a step", counted)
		}
	})
}

func TestATaskNobodyCanDoIsPutToPeopleAndGoesOnWithWhatTheySay(t *testing.T) {
	withEnv(t, lost, func(e *env) {
		e.begin("T-3", "Greet the tasks", "In the greeting.")
		in := e.reaches("T-3", "human_escalation", 0)
		counted, last := map[task.Kind]int{}, task.Event{}
		for _, event := range e.history("T-3") {
			if counted[event.Event]++; event.Event == task.StateTransition {
				last = event
			}
		}
		if counted[task.CTOIntervention] != 2 || last.Reason != "2 CTO attempts" || last.Actor != "@agent-cto" {
			e.Errorf("told of %v, the last %+v", counted, last)
		}
		if out, code := e.call("ls", "task", "--waiting"); code != 0 || !strings.Contains(out, "T-3") {
			e.Errorf("ls --waiting: %d %s", code, out)
		}
		if out, code := e.call("signal", "T-3", "commented", "body=try the greeting"); code != 0 {
			e.Errorf("signal: %d %s", code, out)
		}
		e.reaches("T-3", "completed", in.GetSeq())
		if got := e.moves("T-3"); !strings.Contains(got, "human_escalation planning validated in_progress testing") {
			e.Errorf("it went through %s", got)
		}
	})
}

func TestWorkThatDoesNotHoldGoesBackFromTestsAndFromQualityReview(t *testing.T) {
	// First a wrong word, which the tests find; then a mark, which the review does.
	clumsy := "case $SIGNALBOX_ATTEMPT in\n1) echo wrong >> greeting ;;\n2) echo '<<<<<<< mine' > greeting ;;\n*) echo fine > greeting ;;\nesac\n"
	withEnv(t, clumsy, func(e *env) {
		e.begin("T-4", "Greet the tasks", "In the greeting.")
		e.reaches("T-4", "completed", 0)
		want := "assigned planning validated in_progress testing in_progress testing quality_review in_progress testing quality_review approved committing completed"
		if got := e.moves("T-4"); got != want {
			e.Errorf("it went through %s, want %s", got, want)
		}
		if got := e.file("signalbox/task-T-4", "greeting"); got != "fine\n" {
			e.Errorf("the branch says %q", got)
		}
	})
}

func TestThePlansTasksBuildOnEachOther(t *testing.T) {
	withEnv(t, able, func(e *env) {
		file := filepath.Join(e.dir, "plan.md")
		write(e, file, "# Greetings\n\n## C: Greet last\n\nDepends on: B\nPriority: 1\n\nFinally.\n\n## A: Greet first\n\nIn the greeting.\n\n## B: Greet again\n\nDepends on: A\n\nOnce more.\n")
		if out, code := e.call("plan", "import", file, "--repo", widgets); code != 0 || strings.Count(out, " opened: ") != 3 {
			e.Errorf("plan import: %d %s", code, out)
		}
		last := e.reaches("plan/C", "completed", 0)
		if got := e.file("signalbox/task-plan-C", "greeting"); got != "hello\nplan/A\nplan/B\nplan/C\n" {
			e.Errorf("the last branch says %q", got)
		}
		reviewed := false
		for _, q := range last.GetQuestions() {
			reviewed = reviewed || q.GetTo() == "cto" && strings.HasPrefix(q.GetAnswer(), "Files: 3")
		}
		if !reviewed {
			e.Errorf("the CTO reviewed no codebase: %v", last.GetQuestions())
		}
	})
}

// The plan of the page, and what the page says that happens with it.
func TestThePlanOfThePageEndsAsThePageSays(t *testing.T) {
	text, err := os.ReadFile("../../../docs/task.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	_, rest, _ := strings.Cut(page, "```markdown\n")
	written, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no plan")
	}
	// shown returns what the page shows after the nth call of a command.
	shown := func(command string, n int) string {
		parts := strings.Split(page, "\n$ signalbox "+command)
		if len(parts) <= n {
			t.Fatalf("the page does not show %q", command)
		}
		_, out, _ := strings.Cut(parts[n], "\n")
		out, _, _ = strings.Cut(out, "```")
		out, _, _ = strings.Cut(out, "$ ")
		return out
	}
	withEnv(t, able, func(e *env) {
		file := filepath.Join(e.dir, "plan.md")
		write(e, file, written)
		imported := func(n int) {
			out, code := e.call("plan", "import", file, "--repo", widgets)
			if want := shown("plan import plan.md", n); code != 0 || out != want {
				e.Errorf("plan import ends with %d:\n%swant\n%s", code, out, want)
			}
		}
		imported(1)
		e.reaches("plan/GREET-1", "completed", 0)
		e.reaches("plan/GREET-2", "completed", 0)
		out, code := e.call("ls", "task", "--all")
		want := strings.Split(shown("ls task --all", 1), "\n")
		for i, line := range strings.Split(out, "\n") {
			got, said := withoutTimes(line), withoutTimes(want[min(i, len(want)-1)])
			if code != 0 || !slices.Equal(got, said) {
				e.Errorf("ls ends with %d, %q, the page has %q", code, line, said)
			}
		}
		imported(2)
		if got := e.file("signalbox/task-plan-GREET-2", "greeting"); got != "hello\nplan/GREET-1\nplan/GREET-2\n" {
			e.Errorf("the last branch says %q", got)
		}
	})
}

// withoutTimes returns the words of a line that are no durations.
func withoutTimes(line string) []string {
	return slices.DeleteFunc(strings.Fields(line), func(word string) bool {
		_, err := time.ParseDuration(word)
		return err == nil
	})
}
