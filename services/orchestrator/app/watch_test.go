package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// A person whose account reads nothing of JetStream watches on, each commit once and in order, while
// orchestrators take over from each other and the server restarts.
func TestAViewerWatchesOnWhenTheOrchestratorIsReplaced(t *testing.T) {
	for name, settings := range map[string]orchestratortest.Settings{"stand by": {StandBy: true}, "all active": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			system, ann := access.Party{Kind: access.Orchestrator}, access.Party{Kind: access.Act, Name: "ann"}
			vera := access.Party{Kind: access.View, Name: "vera"}
			server := accesstest.Start(t, system, ann, vera)
			start := func() (stop func()) {
				return orchestratortest.StartOn(t, service.NATS{URL: server.URL, NKey: server.Key(t, system)}, 1, settings,
					slog.New(slog.DiscardHandler))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			first := start()
			acting := client.New(server.As(t, ann), "")
			if _, err := acting.Open(ctx, "", "issue", "one", instance.Issue{Title: "a bug"}); err != nil {
				t.Fatal(err)
			}
			seen := map[string]chan string{"": make(chan string, 100), "one": make(chan string, 100)}
			for id, texts := range seen {
				viewing := client.New(server.As(t, vera), "")
				ended := make(chan error, 1)
				go func() {
					ended <- viewing.Watch(ctx, id, 1, func(c client.LogEntry) error {
						for _, e := range c.Events {
							if n, ok := e.(instance.Noted); ok {
								texts <- n.Text
							}
						}
						return nil
					})
				}()
				defer func() { cancel(); <-ended }()
			}
			n := 0
			notes := func() {
				t.Helper()
				for range 5 {
					n++
					if _, err := acting.Note(ctx, "one", "remark", fmt.Sprint(n)); err != nil {
						t.Fatal(err)
					}
					for id, texts := range seen {
						select {
						case got := <-texts:
							if got != fmt.Sprint(n) {
								t.Errorf("the watch of %q saw note %s, want %d", id, got, n)
							}
						case <-ctx.Done():
							t.Fatalf("the watch of %q did not see note %d", id, n)
						}
					}
				}
			}
			notes()
			start()
			first()
			notes()
			server.Restart(t)
			notes()
		})
	}
}

// Watches that are up to date are served from memory, and a reading of the log leaves nothing behind: a
// server with a consumer for each request would be slow for all.
func TestWatchesLeaveNoConsumers(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{StandBy: true})
	stream, err := server.JetStream(t).Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	consumers := func() int {
		t.Helper()
		info, err := stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Consumers
	}
	c := client.New(server.Connect(t), "operator:ann")
	if _, err := c.Open(t.Context(), "", "issue", "one", instance.Issue{Title: "a bug"}); err != nil {
		t.Fatal(err)
	}
	before := consumers()
	for n := range 20 {
		reply, err := c.Note(t.Context(), "one", "remark", fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"", "one"} {
			if err := c.Watch(t.Context(), of, reply.GetSeq()-1, func(client.LogEntry) error { return client.ErrStopWatch }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := consumers(); after > before {
		t.Errorf("%d consumers, before the watches %d", after, before)
	}
}
