package allinone_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
	gateway "github.com/signalbox/signalbox/services/gateway/app"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// TestTheLocalForgeIsHeardByWebhook asks the forge once an hour.
func TestTheLocalForgeIsHeardByWebhook(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	g := gittest.Repo(t)
	gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
	address := porttest.Address(t)
	var log bytes.Buffer
	err := allinone.Run(t.Context(), allinone.Config{
		Dir: filepath.Join(t.TempDir(), "data"), Sync: 100 * time.Millisecond, Workflow: "issue", Every: time.Hour, Login: "ann",
		Webhook: gateway.Webhook{Addr: address},
		Log:     slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Agents:  role.Settings{Sandbox: "none", Workers: 1, Wall: time.Minute, Idle: time.Minute},
		Flags:   service.Flags{Grace: 20 * time.Second}, Repos: map[string]allinone.Source{widgets: {Dir: g.Dir()}},
		Main: func(ctx context.Context, s *allinone.System) error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			hear(ctx, t, s)
			return nil
		},
	})
	if err != nil || t.Failed() {
		t.Errorf("the system ended with %v\n%s", err, log.String())
	}
}

// hear reports an issue and says a word on it, and waits until both are in the log.
func hear(ctx context.Context, t *testing.T, s *allinone.System) {
	ann, err := github.New(github.Config{BaseURL: s.Forge.API(), Token: s.Forge.Secret})
	if err != nil {
		t.Error(err)
		return
	}
	updates, err := s.NATS.SubscribeSync("sb.evt.>")
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = updates.Unsubscribe() }()
	c := client.New(s.NATS, "operator:ann")
	issue, err := ann.CreateIssue(ctx, widgets, forge.NewIssue{Title: "The sum is wrong", Body: "It is broken."})
	if err != nil {
		t.Error(err)
		return
	}
	until := func(what string, is func() bool) {
		for !is() {
			if _, err := updates.NextMsgWithContext(ctx); err != nil {
				t.Errorf("%s: %v", what, err)
				return
			}
		}
	}
	id := gateway.Name(widgets, issue.Number)
	until("the issue", func() bool { _, err := c.Get(ctx, id); return err == nil })
	if _, err := ann.Comment(ctx, widgets, issue.Number, "I see that, too."); err != nil {
		t.Error(err)
	}
	until("the comment", func() bool {
		records, err := c.History(ctx, id, 0)
		for _, r := range records {
			for _, e := range r.GetCommit().GetEvents() {
				if e.GetSignalled().GetData()["body"] == "I see that, too." {
					return true
				}
			}
		}
		return err != nil
	})
}
