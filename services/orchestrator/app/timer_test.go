package app_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

func TestOrchestratorsRecordDeadlinesOnce(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:ann")
	dir := lifecycles(t, strings.Replace(chore, "owner: worker", "owner: worker\n    timeout: 1s", 1))
	start := func() (stop func()) {
		return orchestratortest.Start(t, server.URL, 2, orchestratortest.Settings{WorkflowDir: dir})
	}
	stop := start()
	if _, err := c.Open(ctx, "", "chore", "a", instance.Issue{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	stop()
	server.Restart(t)
	start()
	var passed []workflow.Level
	if err := c.Watch(ctx, "a", 0, func(s client.LogEntry) error {
		for _, e := range s.Events {
			if out, ok := e.(instance.TimedOut); ok {
				passed = append(passed, out.Level)
			}
		}
		if len(passed) < 3 {
			return nil
		}
		return client.ErrStopWatch
	}); err != nil {
		t.Fatal(err)
	}
	if want := []workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation}; !slices.Equal(passed, want) {
		t.Errorf("it passed %v, want %v", passed, want)
	}
}
