package app_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// Whoever can write to the bucket could let instances pass without tests.
func TestADefinitionUnderAFalseHashIsRefused(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:ann")
	log := new(lockedText)
	run := func(dir string) (stop func()) {
		return orchestratortest.StartLogged(t, server.URL, 1, orchestratortest.Settings{WorkflowDir: dir},
			slog.New(slog.NewJSONHandler(log, nil)))
	}
	stop := run(lifecycles(t, chore))
	for _, id := range []string{"a", "b"} {
		if _, err := c.Open(ctx, "", "chore", id, instance.Issue{Title: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	kv, err := server.JetStream(t).KeyValue(ctx, "definitions")
	if err != nil {
		t.Fatal(err)
	}
	lax, err := workflow.Load("lax", []byte(strings.Replace(chore, "owner: worker", "owner: crew", 1)))
	if err != nil {
		t.Fatal(err)
	}
	false64 := strings.Repeat("f", 64)
	if _, err := kv.Put(ctx, false64, lax.Source()); err != nil {
		t.Fatal(err)
	}
	_, err = c.Migrate(ctx, "a", false64, "to be free")
	if !errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) || !strings.Contains(err.Error(), "kept under a false hash: its content has "+lax.Hash) {
		t.Errorf("migrate was answered %v", err)
	}
	if _, err := c.Definition(ctx, false64); err == nil || !strings.Contains(err.Error(), "false hash") {
		t.Errorf("a reader was answered %v", err)
	}
	if _, err := kv.Put(ctx, lax.Hash, lax.Source()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Migrate(ctx, "a", lax.Hash, "as agreed"); err != nil {
		t.Errorf("to the same under its own hash: %v", err)
	}
	stop()

	// The definition of a running instance is exchanged while no orchestrator runs.
	own, err := workflow.Load("chore", []byte(chore))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(ctx, own.Hash, lax.Source()); err != nil {
		t.Fatal(err)
	}
	stop = run("")
	short, end := context.WithTimeout(ctx, time.Second)
	defer end()
	if _, err := c.Note(short, "b", "remark", "hm"); err == nil {
		t.Error("an instance goes on by a definition that was exchanged")
	}
	stop()
	if text := log.String(); !strings.Contains(text, "a definition was exchanged") || !strings.Contains(text, own.Hash) ||
		!strings.Contains(text, "instances of this definition are stuck") {
		t.Errorf("the log names it not:\n%s", text)
	}
}
