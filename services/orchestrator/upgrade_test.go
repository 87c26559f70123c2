package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	"github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// Agents and people stay connected over an upgrade of the accounts, and go on; the way back
// is the copy of the accounts.
func TestAnOrchestratorIsRefusedOnOldAccountsUntilTheyAreUpgraded(t *testing.T) {
	t.Parallel()
	s := accesstest.StartReloadable(t, func(d access.Directory) { accesstest.WriteOld(t, d) }, accesstest.OldParties()...)
	ann := s.As(t, access.Party{Kind: access.Act, Name: "ann"})
	on := service.NATS{URL: s.ClientURL(), NKey: s.Keys.Seed(access.Party{Kind: access.Orchestrator})}
	refused := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := service.Serve(ctx, service.Config{Service: "orchestrator", Flags: service.Flags{NATS: on}, Log: slog.New(slog.DiscardHandler),
			Setup: app.Settings{Replicas: 1, AckWait: time.Minute, MaxDeliver: 5}.Setup})
		if err == nil || !strings.Contains(err.Error(), "signalbox auth upgrade") || ctx.Err() != nil {
			t.Fatalf("the start on old accounts: %v", err)
		}
	}
	opens := func(id string, nc *nats.Conn) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := client.New(nc, "").Open(ctx, "", "issue", id, instance.Issue{Title: "t", Body: "b"}); err != nil {
			t.Fatal(err)
		}
	}
	reload := func() {
		t.Helper()
		if err := s.Reload(); err != nil {
			t.Fatal(err)
		}
	}
	refused()
	if _, err := s.Keys.Upgrade(); err != nil {
		t.Fatal(err)
	}
	refused() // nats-server has not read them
	reload()
	stop := orchestratortest.StartOn(t, on, 1, orchestratortest.Settings{AckWait: time.Minute}, slog.New(slog.DiscardHandler))
	opens("x/1", ann)
	stop()

	config := filepath.Join(string(s.Keys), access.ConfigFile)
	before, err := os.ReadFile(filepath.Join(string(s.Keys), access.BeforeFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, before, 0o600); err != nil {
		t.Fatal(err)
	}
	reload()
	refused()
	if _, err := s.Keys.Upgrade(); err != nil {
		t.Fatal(err)
	}
	reload()
	orchestratortest.StartOn(t, on, 1, orchestratortest.Settings{AckWait: time.Minute}, slog.New(slog.DiscardHandler))
	opens("x/2", ann)
}
