package access_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// A reply without a body on the subject of an acknowledgement would acknowledge the work of
// another party. nats-server refuses such a request.
func TestNoRequestHasItsReplyOnTheSubjectOfAnAcknowledgement(t *testing.T) {
	e := newEnv(t)
	nc := e.server.As(t, gateway)
	_, err := nc.Subscribe(subject.OpenIssue, func(m *nats.Msg) { _ = m.Respond(nil) })
	e.must(err)
	e.must(nc.Flush())
	for _, to := range []string{"sb.in.*.api.>", "sb.in.signalbox.>"} {
		_, err := e.system.Conn().Subscribe(to, func(m *nats.Msg) { _ = m.Respond(nil) })
		e.must(err)
	}
	own, err := nc.SubscribeSync("$JS.ACK.>")
	e.must(err)
	e.must(nc.Flush())
	acks, err := e.system.Conn().SubscribeSync("$JS.ACK.>")
	e.must(err)
	e.must(e.system.Conn().Flush())
	for _, c := range []struct {
		party access.Party
		to    string
	}{
		{actor, subject.OpenIssue}, {actor, "sb.api.open"}, {viewer, "sb.api.get"}, {developer, "sb.api.agent.developer.batch"},
		{notifier, "sb.api.allowance"}, {gateway, "sb.api.open"}, {admin, "sb.api.override"},
	} {
		refused := make(chan error, 10)
		sender := e.server.As(t, c.party, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		e.must(sender.PublishRequest(c.to, "$JS.ACK.EVENTS.tester.1.1.1.1.0", nil))
		e.must(sender.Flush())
		select {
		case err := <-refused:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s on %s: %v", c.party, c.to, err)
			}
		case <-e.ctx.Done():
			t.Fatalf("%s on %s: it is not refused", c.party, c.to)
		}
	}
	e.must(e.system.Conn().Flush())
	for _, sub := range []*nats.Subscription{own, acks} {
		if n, _, err := sub.Pending(); err != nil || n != 0 {
			t.Errorf("%d acknowledgements, %v", n, err)
		}
	}
}

// An agent that may pull its own queue cannot have the server acknowledge the work of another
// role by what it replies to a pull.
func TestAPullDoesNotAcknowledgeTheWorkOfAnotherRole(t *testing.T) {
	e := newEnv(t)
	js, err := access.JetStreamAs(e.ctx, e.server.As(t, tester), tester)
	e.must(err)
	consumer, err := js.Consumer(e.ctx, subject.EventStream, "tester")
	e.must(err)
	work, err := consumer.Next()
	e.must(err)
	before, err := consumer.Info(e.ctx)
	e.must(err)
	nc := e.server.As(t, developer)
	for _, request := range []struct{ to, body string }{
		{access.APIPrefix + ".CONSUMER.MSG.NEXT.EVENTS.developer", `{"batch":1,"no_wait":true}`}, // the message that waits
		{access.APIPrefix + ".CONSUMER.MSG.NEXT.EVENTS.developer", `{"batch":1,"no_wait":true}`}, // none: a status without a body
		{access.APIPrefix + ".CONSUMER.MSG.NEXT.EVENTS.developer", `{"batch":1,"expires":1000000}`},
		{access.APIPrefix + ".CONSUMER.INFO.EVENTS.developer", ``},
	} {
		e.must(nc.PublishRequest(request.to, work.Reply(), []byte(request.body)))
		e.must(nc.PublishRequest(request.to, "$JS.ACK.>", []byte(request.body)))
	}
	e.must(nc.Flush())
	own, err := access.JetStreamAs(e.ctx, nc, developer)
	e.must(err)
	queue, err := own.Consumer(e.ctx, subject.EventStream, "developer")
	e.must(err)
	if got, err := queue.Fetch(1, jetstream.FetchMaxWait(time.Second)); err == nil { // what was sent before is handled by then
		for range got.Messages() {
		}
	}
	after, err := consumer.Info(e.ctx)
	e.must(err)
	if after.NumAckPending != before.NumAckPending || before.NumAckPending != 1 {
		t.Errorf("of the work that the tester has %d are pending, want %d", after.NumAckPending, before.NumAckPending)
	}
}

func TestARoleDoesNotListTheSubjectsOfTheLog(t *testing.T) {
	e := newEnv(t)
	for _, p := range []access.Party{developer, notifier, gateway, viewer, actor} {
		for _, name := range []string{"STREAM.INFO.EVENTS", "STREAM.NAMES", "STREAM.LIST", "CONSUMER.NAMES.EVENTS", "CONSUMER.LIST.EVENTS"} {
			if err := api(name, map[string]any{"subjects_filter": ">"})(e, e.server.As(t, p)); err == nil {
				t.Errorf("%s may ask for %s", p, name)
			}
		}
	}
	for p, queue := range map[access.Party]string{developer: "developer", tester: "tester", notifier: "pm"} {
		js, err := access.JetStreamAs(e.ctx, e.server.As(t, p), p)
		e.must(err)
		if err := store.MajorityOfQueue(queue)(e.ctx, js); err != nil {
			t.Errorf("%s does not find whether the servers have a majority: %v", p, err)
		}
	}
	js, err := access.JetStreamAs(e.ctx, e.server.As(t, gateway), gateway)
	e.must(err)
	if err := store.MajorityOf(subject.DeliveryStream)(e.ctx, js); err != nil {
		t.Errorf("the gateway does not find whether the servers have a majority: %v", err)
	}
}
