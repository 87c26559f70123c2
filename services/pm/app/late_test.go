package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const quick = `workflow: issue-quick
version: 1
extends: issue
policy: {warn_at: 0.1}
states:
  waiting_for_requirements_clarification: {timeout: 4s}
  waiting_for_human_input: {timeout: 4s}
`

const quickTask = `workflow: task-quick
version: 1
extends: task
states:
  quality_review: {timeout: 2s}
`

// newQuickEnv is a notifyEnv whose lifecycles are in a hurry.
func newQuickEnv(t *testing.T) *notifyEnv {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"issue-quick.yaml": quick, "task-quick.yaml": quickTask} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return newNotifyEnvIn(t, dir)
}

// stopAtOnce ends a watch at the first commit.
func stopAtOnce(client.LogEntry) error { return client.ErrStopWatch }

// opens opens an instance and moves it into a state.
func (g *notifyEnv) opens(id, lifecycle, state string, issue *pb.Issue) {
	g.Helper()
	_, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: id, Action: &pb.Command_Open{Open: &pb.Open{Workflow: lifecycle, Issue: issue}}})
	if err == nil {
		_, err = g.client.Override(g.ctx, id, state, "to begin with")
	}
	if err != nil {
		g.Fatal(err)
	}
}

// until waits until the instance is in a state.
func (g *notifyEnv) until(id, state string) {
	g.Helper()
	for {
		in, err := g.client.Get(g.ctx, id)
		if err != nil {
			g.Fatal(err)
		}
		if in.GetState() == state {
			return
		}
		if err := g.client.Watch(g.ctx, id, in.GetSeq(), stopAtOnce); err != nil {
			g.Fatalf("it is in %s and not in %s: %v", in.GetState(), state, err)
		}
	}
}

// skips has the CTO bring a task to a state, one next state after another.
func (g *notifyEnv) skips(id string, states ...string) {
	g.Helper()
	for _, to := range states {
		if _, err := g.client.DoAs(g.ctx, "cto", "override", &pb.Command{Instance: id, Actor: "x-1",
			Action: &pb.Command_Override{Override: &pb.Override{To: to, Reason: "I found no way"}}}); err != nil {
			g.Fatal(err)
		}
	}
}

// keys are those of the comments on an issue, in order.
func (g *notifyEnv) keys(issue int) (keys []string, texts string) {
	g.Helper()
	all, err := g.ann.Comments(g.ctx, widgets, issue, time.Time{})
	if err != nil {
		g.Fatal(err)
	}
	for _, c := range all {
		_, key, _ := rules.FindMarker(c.Body)
		keys, texts = append(keys, key), texts+c.Body
	}
	return keys, texts
}

func TestPeopleAreRemindedThenItIsBlockedThenItFails(t *testing.T) {
	g := newQuickEnv(t)
	stop := g.notifies()
	id := "acme/widgets/1"
	g.opens(id, "issue-quick", "waiting_for_requirements_clarification", wire.Issue(g.issue))
	g.until(id, "blocked")
	if _, err := g.client.Override(g.ctx, id, "waiting_for_human_input", "people are asked"); err != nil {
		t.Fatal(err)
	}
	g.until(id, "failed")
	g.told()
	stop()
	keys, texts := g.keys(g.issue.Number)
	for _, want := range []string{"deadline-waiting_for_requirements_clarification-1-warning", "deadline-waiting_for_human_input-1-warning",
		"deadline-waiting_for_human_input-1-alert", "ended"} {
		if !slices.Contains(keys, want) {
			t.Errorf("said is %q, without %s", keys, want)
		}
	}
	if !strings.Contains(texts, "This still waits for an answer") || !strings.Contains(texts, "no answer arrived and the work ends") {
		t.Errorf("said is\n%s", texts)
	}
}

func TestWorkThatTakesItsTimeAndMoreIsToldWhereTheIssueIs(t *testing.T) {
	g := newQuickEnv(t)
	stop := g.notifies()
	id := "acme/widgets/1"
	if _, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: id, Action: &pb.Command_Open{Open: &pb.Open{Workflow: "task-quick", Issue: wire.Issue(g.issue)}}}); err != nil {
		t.Fatal(err)
	}
	g.skips(id, "assigned", "planning", "validated", "in_progress", "testing", "quality_review")
	for {
		in, err := g.client.Get(g.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if in.GetLevel() == "escalation" {
			break
		}
		if err := g.client.Watch(g.ctx, id, in.GetSeq(), stopAtOnce); err != nil {
			t.Fatal(err)
		}
	}
	g.told()
	stop()
	keys, texts := g.keys(g.issue.Number)
	if len(keys) == 0 || len(keys) > 2 || keys[len(keys)-1] != "deadline-quality_review-1-escalation" || !strings.Contains(texts, "longer than expected") ||
		!strings.Contains(texts, "signalbox explain acme/widgets/1") || !strings.Contains(texts, "The quality-monitor has to act") {
		t.Errorf("said is %q\n%s", keys, texts)
	}
}

func TestATaskWithoutAnIssueAsksPeopleOnOneOfItsOwn(t *testing.T) {
	g := newQuickEnv(t)
	stop := g.notifies()
	id := "plan/GREET-1"
	if _, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: id, Action: &pb.Command_Open{Open: &pb.Open{Workflow: "task",
		Issue: wire.Issue(instance.Issue{Repo: widgets, Title: "Greet <b>everybody</b>"})}}}); err != nil {
		t.Fatal(err)
	}
	g.skips(id, "assigned", "planning", "cto_intervention", "human_escalation")
	g.told()
	stop()
	// After a restore of the log the instance is opened again, long after the issue changed last.
	restored, err := g.client.Get(g.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	restored.OpenedAt = timestamppb.New(time.Now().Add(90 * 24 * time.Hour))
	if n, err := g.askIssue(g.ctx, restored, widgets); err != nil || n != 2 {
		t.Errorf("people are asked on #%d, %v", n, err)
	}
	stop = g.notifies() // a PM without memory
	g.told()
	stop()
	issues, err := g.ann.Issues(g.ctx, widgets, time.Time{})
	if err != nil || len(issues) != 2 {
		t.Fatalf("the issues are %+v, %v", issues, err)
	}
	made := issues[1]
	keys, texts := g.keys(made.Number)
	if !strings.Contains(made.Title, id) || !slices.Equal(keys, []string{"waits-human_escalation-1"}) || !strings.Contains(texts, "I found no way") {
		t.Errorf("it asks on %q, saying %q\n%s", made.Title, keys, texts)
	}
}
