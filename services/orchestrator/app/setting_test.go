package app_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// subscribed returns a subscription that the server has before anything else is requested.
func subscribed(conn *nats.Conn, subject string) (*nats.Subscription, error) {
	s, err := conn.SubscribeSync(subject)
	if err == nil {
		err = conn.Flush()
	}
	return s, err
}

// A limit that others set is gone before the log is as long, and the log says so.
func TestALimitOfTheLogIsTakenBack(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	log := new(lockedText)
	stop := orchestratortest.StartLogged(t, server.URL, 1, orchestratortest.Settings{WorkflowDir: lifecycles(t, chore)},
		slog.New(slog.NewJSONHandler(log, nil)))
	c := client.New(server.Connect(t), "operator:ann")
	if _, err := c.Open(ctx, "", "chore", "a", instance.Issue{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	js := server.JetStream(t)
	stream, err := js.Stream(ctx, "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.MaxMsgs, config.MaxAge = 5, time.Hour
	updates, err := subscribed(server.Connect(t), "$JS.EVENT.ADVISORY.STREAM.UPDATED.EVENTS")
	if err == nil {
		_, err = js.UpdateStream(ctx, config)
	}
	for range 2 { // the change, and that it is taken back
		if err == nil {
			_, err = updates.NextMsgWithContext(ctx)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if _, err := c.Note(ctx, "a", "remark", "hm"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := stream.Info(ctx)
	if err != nil || info.Config.MaxMsgs != -1 || info.Config.MaxAge != 0 || info.State.FirstSeq != 1 {
		t.Errorf("it is %+v with %+v, %v", info.Config, info.State, err)
	}
	stop()
	if text := log.String(); !strings.Contains(text, `"stream":"EVENTS","want":"no limit of age, no limit of messages"`) ||
		!strings.Contains(text, "find who may do that") {
		t.Errorf("the log does not say so:\n%s", text)
	}
}

// An agent gets its work although its queue was deleted, and an orchestrator starts although nobody may write
// dead letters any more.
func TestAQueueThatWasDeletedIsMadeAgain(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	log := &lockedText{wrote: make(chan struct{}, 1)}
	run := func() (stop func()) {
		return orchestratortest.StartLogged(t, server.URL, 1, orchestratortest.Settings{WorkflowDir: lifecycles(t, chore)},
			slog.New(slog.NewJSONHandler(log, nil)))
	}
	stop := run()
	c := client.New(server.Connect(t), "operator:ann")
	js := server.JetStream(t)
	made, err := subscribed(server.Connect(t), "$JS.EVENT.ADVISORY.CONSUMER.CREATED.EVENTS.worker")
	if err == nil {
		err = js.DeleteConsumer(ctx, "EVENTS", "worker")
	}
	if err == nil {
		_, err = made.NextMsgWithContext(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	log.await(ctx, t,
		`"level":"ERROR","msg":"the work queues of roles were deleted, and are made again; find who may do that",`, `"roles":["worker"]`)
	dead, err := js.Stream(ctx, "DEAD")
	if err != nil {
		t.Fatal(err)
	}
	config := dead.CachedInfo().Config
	config.Sealed = true
	if _, err := js.UpdateStream(ctx, config); err != nil {
		t.Fatal(err)
	}
	stop()
	stop = run()
	if _, err := c.Open(ctx, "", "chore", "a", instance.Issue{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	queue, err := js.Consumer(ctx, "EVENTS", "worker")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Next(); err != nil {
		t.Fatal(err)
	}
	log.await(ctx, t, `stream DEAD should have no seal`)
	stop()
}
