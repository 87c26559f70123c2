package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

func TestAWatcherSeesEveryCommitAsItCame(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:ann")
	note := func(id string, n int) uint64 {
		t.Helper()
		reply, err := c.Note(ctx, id, "remark", fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
		return reply.GetSeq()
	}
	for _, id := range []string{"a.b/c d", "b"} {
		if _, err := c.Open(ctx, "", "issue", id, instance.Issue{Title: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	behind := note("a.b/c d", 0)
	for n := range 3 {
		note("b", n)
		note("a.b/c d", n+1)
	}
	var texts []string
	see := func(until int) func(client.LogEntry) error {
		return func(s client.LogEntry) error {
			for _, e := range s.Events {
				if n, ok := e.(instance.Noted); ok {
					texts = append(texts, s.Instance+":"+n.Text)
				}
			}
			if s.Actor != "operator:ann" || s.Workflow != "issue" || s.State != "received" || s.At.IsZero() || s.Seq <= behind {
				t.Errorf("saw %+v", s)
			}
			if len(texts) == until {
				return client.ErrStopWatch
			}
			return nil
		}
	}
	t.Run("of one instance", func(t *testing.T) {
		texts = nil
		if err := c.Watch(ctx, "a.b/c d", behind, see(3)); err != nil || !slices.Equal(texts, []string{"a.b/c d:1", "a.b/c d:2", "a.b/c d:3"}) {
			t.Errorf("saw %v, %v", texts, err)
		}
	})
	t.Run("of all", func(t *testing.T) {
		texts = nil
		if err := c.Watch(ctx, "", behind, see(6)); err != nil || texts[0] != "b:0" || texts[5] != "a.b/c d:3" {
			t.Errorf("saw %v, %v", texts, err)
		}
	})
	t.Run("also when the server was away in between", func(t *testing.T) {
		texts = nil
		first, ended := make(chan struct{}), make(chan error, 1)
		look := see(4)
		go func() {
			ended <- c.Watch(ctx, "a.b/c d", behind, func(s client.LogEntry) error {
				err := look(s)
				if len(texts) == 3 {
					close(first)
				}
				return err
			})
		}()
		<-first
		server.Restart(t)
		note("a.b/c d", 4)
		if err := <-ended; err != nil || len(texts) != 4 || texts[3] != "a.b/c d:4" {
			t.Errorf("saw %v, %v", texts, err)
		}
	})
	t.Run("until the context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		err := c.Watch(ctx, "b", behind, func(client.LogEntry) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("also while there is no server", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		seen, ended := make(chan struct{}, 100), make(chan error, 1)
		go func() {
			ended <- c.Watch(ctx, "b", behind, func(client.LogEntry) error { seen <- struct{}{}; return nil })
		}()
		<-seen
		server.Stop()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		server.Resume(t)
	})
	t.Run("or with its own error", func(t *testing.T) {
		enough := errors.New("enough")
		if err := c.Watch(ctx, "", 0, func(client.LogEntry) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("it ended with %v", err)
		}
	})
}
