package app

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/document/task"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestTheFiveQueriesAreAnsweredOverNATS(t *testing.T) {
	w := newEnv(t, "")
	w.begin("p/called")
	for range 3 {
		w.step("p/called", instance.Failure)
	}
	w.begin("p/hard")
	w.step("p/hard", instance.Failure)
	w.step("p/hard", instance.Failure)
	w.begin("p/new")
	for _, c := range []struct{ query, request, want string }{
		{ByState, `{"state":"assigned"}`, "p/new in assigned, 0 failures, 0 attempts of the CTO"},
		{ByState, `{"state":"completed"}`, ""},
		{ExceedingTimeout, ``, ""},
		{UnderCTOReview, ``, "p/called in cto_intervention, 3 failures, 1 attempts of the CTO"},
		{WithMultipleFailures, `{}`, "p/called in cto_intervention, 3 failures, 1 attempts of the CTO; p/hard in planning, 2 failures, 0 attempts of the CTO"},
	} {
		found, refused := ask[[]task.State](w, c.query, c.request)
		var got []string
		for _, s := range found {
			got = append(got, fmt.Sprintf("%s in %s, %d failures, %d attempts of the CTO", s.ID, s.CurrentState, s.FailureCount, s.CTOAttempts))
		}
		if slices.Sort(got); refused != "" || strings.Join(got, "; ") != c.want {
			t.Errorf("%s %s: %q %s, want %q", c.query, c.request, got, refused, c.want)
		}
	}
	moves, refused := ask[[]task.Transition](w, StateHistory, `{"taskId":"p/hard"}`)
	var got []string
	for _, m := range moves {
		got = append(got, m.FromState+" → "+m.ToState+" "+m.Actor)
	}
	want := []string{
		"pending → assigned build orchestrator", "assigned → planning @agent-solution-validator",
		"planning → planning @agent-solution-validator", "planning → planning @agent-solution-validator",
	}
	if refused != "" || !slices.Equal(got, want) {
		t.Errorf("%q %s, want %q", got, refused, want)
	}
	for query, request := range map[string]string{ByState: ``, StateHistory: `{}`} {
		if _, refused := ask[any](w, query, request); !strings.HasPrefix(refused, "want {") {
			t.Errorf("%s %s is not refused with what is wanted: %q", query, request, refused)
		}
	}
	if _, refused := ask[any](w, StateHistory, `{"taskId":"p/none"}`); !strings.Contains(refused, "no such instance") {
		t.Errorf("the history of a task that there is not: %q", refused)
	}
}

func TestDeadlinesAreToldOnceALevel(t *testing.T) {
	w := newEnv(t, "states:\n  assigned: {timeout: 1s}\n")
	w.begin("p/late")
	levels := map[string]slog.Level{}
	for len(levels) < 3 {
		select {
		case r := <-w.lines:
			said := map[string]string{}
			r.Attrs(func(a slog.Attr) bool { said[a.Key] = a.Value.String(); return true })
			if said["task"] != "" {
				if _, dup := levels[said["level"]]; dup || said["task"] != "p/late" || said["state"] != "assigned" {
					t.Errorf("%s %v", r.Message, said)
				}
				levels[said["level"]] = r.Level
			}
		case <-w.ctx.Done():
			t.Fatalf("told of %v, want a warning, an alert and an escalation", levels)
		}
	}
	if levels["warning"] != slog.LevelWarn || levels["alert"] != slog.LevelError || levels["escalation"] != slog.LevelError {
		t.Errorf("levels %v", levels)
	}
	commits, err := queries{Client: w.client}.commits(w.ctx, "p/late")
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range task.Events("p/late", commits) {
		if e.Event == task.TimeoutWarning && e.From == "assigned" {
			told++
		}
	}
	if told != 3 {
		t.Errorf("%d timeouts are in its log, want 3", told)
	}
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, f := range families {
		if f.GetName() == "signalbox_task_deadlines_total" {
			for _, m := range f.GetMetric() {
				counted += int(m.GetCounter().GetValue())
			}
		}
	}
	if n, err := testutil.GatherAndCount(w.metrics, "signalbox_task_deadlines_total"); n <= 3 || n%3 != 0 || err != nil {
		t.Errorf("there are %d series, want three of each state with a deadline: %v", n, err)
	}
	if counted != 3 {
		t.Errorf("%d deadlines counted, want 3", counted)
	}
	late, _ := ask[[]task.State](w, ExceedingTimeout, "")
	if len(late) != 1 || late[0].ID != "p/late" {
		t.Errorf("exceeding their timeout: %+v", late)
	}
}
