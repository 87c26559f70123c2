package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// Sixty-four clients write to one instance through four replicas. Every command
// is answered once, with the one sequence it has in the log.
func TestFourReplicasGiveEveryCommandOneTruthfulAnswer(t *testing.T) {
	const replicas, clients, each = 4, 64, 5
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, replicas, app.Settings{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:test")
	if _, err := c.Open(ctx, "", "issue", "acme/widgets/1", instance.Issue{Title: "a bug"}); err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	answers := map[uint64]string{}
	var wg sync.WaitGroup
	for n := range clients {
		own := client.New(server.Connect(t), fmt.Sprintf("operator:%d", n))
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("%d/%d", n, i)
				reply, err := own.Note(ctx, "acme/widgets/1", "remark", text)
				if err != nil {
					t.Errorf("note %s: %v", text, err)
					return
				}
				mu.Lock()
				if first, taken := answers[reply.GetSeq()]; taken {
					t.Errorf("%s and %s were both replied to as commit %d", first, text, reply.GetSeq())
				}
				answers[reply.GetSeq()] = text
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	records, err := c.History(ctx, "acme/widgets/1", 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + clients*each; len(records) != want {
		t.Fatalf("the log has %d commits, want %d", len(records), want)
	}
	for _, r := range records[1:] {
		if got := r.GetCommit().GetEvents()[0].GetNoted().GetText(); got != answers[r.GetSeq()] {
			t.Errorf("commit %d says %q, its client was answered for %q", r.GetSeq(), got, answers[r.GetSeq()])
		}
	}
}

// Many agents claim the same work at once, through any replica.
func TestOneOfManyClaimsWins(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 4, app.Settings{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:test")
	opened, err := c.Open(ctx, "", "issue", "one", instance.Issue{Title: "a bug"})
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 64)
	for n := range cap(results) {
		own := client.New(server.Connect(t), "")
		go func() {
			_, err := own.DoAs(ctx, "pm", "claim", claim("one", fmt.Sprintf("pm-%d", n), opened.GetInstance().GetWork()))
			results <- err
		}()
	}
	won := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, &instance.Refusal{Code: instance.CodeHeld}):
			t.Errorf("another one was refused with %v, want held", err)
		}
	}
	if won != 1 {
		t.Errorf("%d claims won, want 1", won)
	}
}

// The same command, sent again under the same id through other replicas, is
// answered as the first time and recorded once.
func TestADuplicateCommandIsAnsweredAsTheFirst(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 4, app.Settings{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:test")
	opened, err := c.Open(ctx, "open-1", "issue", "one", instance.Issue{Title: "a bug"})
	if err != nil {
		t.Fatal(err)
	}
	work := claim("one", "pm-1", opened.GetInstance().GetWork())
	work.Id = "claim-1"
	first, err := c.DoAs(ctx, "pm", "claim", work)
	if err != nil {
		t.Fatal(err)
	}
	for range 16 {
		again, err := c.DoAs(ctx, "pm", "claim", work)
		if err != nil {
			t.Fatal(err)
		}
		if again.GetSeq() != first.GetSeq() || again.GetToken() != first.GetToken() || !again.GetDuplicate() {
			t.Fatalf("answered seq %d token %d duplicate %v, want %d, %d, true", again.GetSeq(), again.GetToken(), again.GetDuplicate(),
				first.GetSeq(), first.GetToken())
		}
	}
	_, err = c.Open(ctx, "open-1", "issue", "two", instance.Issue{Title: "a bug"})
	if !errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) {
		t.Errorf("the spent id opened another instance: %v", err)
	}
}
