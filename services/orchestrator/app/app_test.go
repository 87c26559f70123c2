package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const chore = `
workflow: chore
version: 1
initial: todo
states:
  todo:
    about: Something is to be done.
    owner: worker
    next: [done]
    decide: [{to: done, reason: it is done}]
  done: {about: It is done., final: true}
`

// lifecycles is a directory with one.
func lifecycles(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "chore.yaml"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func filters(t *testing.T, js jetstream.JetStream, queue string) []string {
	t.Helper()
	c, err := js.Consumer(t.Context(), "EVENTS", queue)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(c.CachedInfo().Config.FilterSubjects))
}

func TestEveryRoleHasAQueueOfTheStatesItOwns(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 2, orchestratortest.Settings{})
	js := server.JetStream(t)
	developer := filters(t, js, "developer")
	for _, want := range []string{"sb.evt.work.issue.implementing.*", "sb.evt.work.issue.fixing_issues.*", "sb.evt.work.*.@developer.*"} {
		if !slices.Contains(developer, want) {
			t.Errorf("the developer's queue has %v, want %s in it", developer, want)
		}
	}
	ends := filters(t, js, "endings")
	for _, want := range []string{"sb.evt.note.issue.failed.*", "sb.evt.note.*.@people.*", "sb.evt.note.task.human_escalation.*"} {
		if !slices.Contains(ends, want) {
			t.Errorf("the queue of endings has %v, want %s in it", ends, want)
		}
	}
	if all := filters(t, js, "statuses"); !slices.Equal(all, []string{"sb.evt.>"}) {
		t.Errorf("the queue of what is shown of issues has %v", all)
	}
	if slices.ContainsFunc(developer, func(f string) bool { return strings.Contains(f, ".running_tests.") }) {
		t.Errorf("the developer's queue has another's states: %v", developer)
	}
}

// A lifecycle was changed while an instance ran, and then given up altogether.
func TestAnInstanceGoesOnByTheLifecycleItWasOpenedWith(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:ann")
	js := server.JetStream(t)
	open := func(id string) uint64 {
		t.Helper()
		reply, err := c.Open(ctx, "", "chore", id, instance.Issue{Title: "t"})
		if err != nil {
			t.Fatal(err)
		}
		return reply.GetInstance().GetWork()
	}
	claim := func(role, id string, work uint64) error {
		_, err := c.DoAs(ctx, role, "claim",
			&pb.Command{Instance: id, Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "a", Work: work, LeaseMs: 60_000}}})
		return err
	}
	run := func(dir string) (stop func()) {
		return orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{WorkflowDir: dir})
	}
	stop := run(lifecycles(t, chore))
	old := open("old")
	stop()
	stop = run(lifecycles(t, strings.NewReplacer("version: 1", "version: 2", "owner: worker", "owner: crew").Replace(chore)))
	for _, queue := range []string{"worker", "crew"} {
		if got := filters(t, js, queue); !slices.Equal(got, []string{"sb.evt.work.*.@" + queue + ".*", "sb.evt.work.chore.todo.*"}) {
			t.Errorf("the queue of %s has %v", queue, got)
		}
	}
	recent := open("recent")
	if err := claim("worker", "recent", recent); !errors.Is(err, &instance.Refusal{Code: instance.CodeNotOwner}) {
		t.Errorf("the old owner's claim of new work was answered %v", err)
	}
	if err := claim("crew", "recent", recent); err != nil {
		t.Error(err)
	}
	stop()
	run("")
	if _, err := c.Open(ctx, "", "chore", "another", instance.Issue{Title: "t"}); !errors.Is(err,
		&instance.Refusal{Code: instance.CodeInvalid}) {
		t.Errorf("a lifecycle that was given up was opened: %v", err)
	}
	if err := claim("worker", "old", old); err != nil {
		t.Error(err)
	}
	if got := filters(t, js, "worker"); !slices.Equal(got, []string{"sb.evt.work.*.@worker.*", "sb.evt.work.chore.todo.*"}) {
		t.Errorf("the queue of worker has %v", got)
	}
}
