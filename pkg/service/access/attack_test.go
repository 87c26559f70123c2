package access_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
)

// env is a server with the accounts of some parties, the streams of a system, and two
// messages in the log, one of which is delivered to the developer.
type env struct {
	*testing.T
	ctx    context.Context
	server *accesstest.Server
	system jetstream.JetStream
	log    jetstream.Stream
}

var (
	orchestrator = access.Party{Kind: access.Orchestrator}
	gateway      = access.Party{Kind: access.Gateway}
	developer    = access.Party{Kind: access.Agent, Name: "developer"}
	tester       = access.Party{Kind: access.Agent, Name: "tester"}
	notifier     = access.Party{Kind: access.Agent, Name: "pm"}
	notify       = access.Party{Kind: access.Notify}
	console      = access.Party{Kind: access.Console}
	viewer       = access.Party{Kind: access.View, Name: "vera"}
	actor        = access.Party{Kind: access.Act, Name: "ann"}
	admin        = access.Party{Kind: access.Admin, Name: "ada"}
)

func newEnv(t *testing.T) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	e := &env{T: t, ctx: ctx, server: accesstest.Start(t, orchestrator, gateway, developer, tester, notifier, notify, console, viewer, actor, admin)}
	var err error
	e.system, err = jetstream.New(e.server.As(e.T, orchestrator))
	e.must(err)
	_, err = store.Open(ctx, e.system, store.Config{Replicas: 1})
	e.must(err)
	_, err = store.Provision(ctx, e.system, store.ProvisionConfig{Replicas: 1})
	e.must(err)
	for _, role := range []string{"developer", "tester", subject.Endings, subject.Statuses, subject.Notifications} {
		filter := "sb.evt.work.issue." + role + ".*"
		e.must(store.EnsureConsumer(ctx, e.system, role, []string{filter}, store.ConsumerConfig{}))
		_, err = e.system.Publish(ctx, "sb.evt.work.issue."+role+".a", []byte("{}"))
		e.must(err)
	}
	e.log, err = e.system.Stream(ctx, subject.EventStream)
	e.must(err)
	return e
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// config returns what an attack could change: the last sequence and the configuration of
// the log, and the consumers.
func (e *env) state() string {
	info, err := e.log.Info(e.ctx)
	e.must(err)
	var consumers []string
	for name := range e.log.ConsumerNames(e.ctx).Name() {
		consumers = append(consumers, name)
	}
	config, err := json.Marshal(info.Config)
	e.must(err)
	return fmt.Sprint(info.State.LastSeq, info.State.Msgs, consumers, string(config))
}

// tries is how long an attack may wait for a reply.
const tries = 500 * time.Millisecond

// api sends a request of JetStream's API in both forms that an account may try.
func api(name string, body any) func(*env, *nats.Conn) error {
	return func(e *env, nc *nats.Conn) error {
		var data []byte
		if body != nil {
			var err error
			data, err = json.Marshal(body)
			e.must(err)
		}
		for _, prefix := range []string{"$JS.API.", access.APIPrefix + "."} {
			m, err := nc.Request(prefix+name, data, tries)
			if err != nil {
				continue
			}
			var reply struct {
				Error *struct{ Description string } `json:"error"`
			}
			e.must(json.Unmarshal(m.Data, &reply))
			if reply.Error == nil {
				return nil
			}
		}
		return errRefused
	}
}

var errRefused = errors.New("refused")

// publish publishes to a subject, and says that it was refused unless a subscriber received it.
func publish(to string) func(*env, *nats.Conn) error {
	return func(_ *env, nc *nats.Conn) error {
		_, err := nc.Request(to, []byte("{}"), tries)
		return err
	}
}

// reply has the server reply to a request it permits on a subject that the attacker may
// not publish to. It tries both forms of a request of JetStream's API.
func reply(request, body, to string) func(*env, *nats.Conn) error {
	return func(e *env, nc *nats.Conn) error {
		e.must(nc.PublishRequest(request, to, []byte(body)))
		if name, ok := strings.CutPrefix(request, access.APIPrefix+"."); ok {
			e.must(nc.PublishRequest("$JS.API."+name, to, []byte(body)))
		}
		e.must(nc.FlushTimeout(time.Second))
		return errRefused // what counts is where the reply lands
	}
}

// acknowledge pulls a message of the developer, and has the server reply to its
// acknowledgement on another subject. Who cannot pull guesses what to acknowledge.
func acknowledge(to string) func(*env, *nats.Conn) error {
	return func(e *env, nc *nats.Conn) error {
		const pull = ".CONSUMER.MSG.NEXT.EVENTS.developer"
		message := "$JS.ACK.EVENTS.developer.1.1.1.1.0"
		for _, prefix := range []string{access.APIPrefix, "$JS.API"} {
			if m, err := nc.Request(prefix+pull, []byte(`{"batch":1,"no_wait":true}`), tries); err == nil && m.Reply != "" {
				message = m.Reply
			}
		}
		return reply(message, "+ACK", to)(e, nc)
	}
}

// then does one thing after the other, of which the last one counts.
func then(all ...func(*env, *nats.Conn) error) func(*env, *nats.Conn) error {
	return func(e *env, nc *nats.Conn) (err error) {
		for _, f := range all {
			err = f(e, nc)
		}
		return err
	}
}

type attack struct {
	name string
	run  func(*env, *nats.Conn) error
	// lands is the subject where a reply comes to if the attack works; empty: run returns nil.
	lands string
	// never says why it cannot work on any server that the tests run; empty: it can.
	never string
}

func attacks() []attack {
	const commit, note = "sb.evt.work.issue.received.a", "sb.evt.note.issue.received.a"
	limited := map[string]any{"name": "EVENTS", "subjects": []string{"sb.evt.>"}, "max_msgs": 1, "storage": "file"}
	pull := access.APIPrefix + ".CONSUMER.MSG.NEXT.EVENTS.developer"
	info := access.APIPrefix + ".CONSUMER.INFO.EVENTS.developer"
	pulled := func(to string) attack {
		return attack{run: reply(pull, `{"batch":1,"expires":1000000}`, to), lands: to}
	}
	named := func(name string, a attack) attack { a.name = name; return a }
	return []attack{
		{name: "publish a commit", run: publish(commit)},
		{name: "publish a note", run: publish(note)},
		{name: "cut the log to one message", run: func(e *env, nc *nats.Conn) error {
			config := e.log.CachedInfo().Config
			config.MaxMsgs = 1
			return api("STREAM.UPDATE.EVENTS", config)(e, nc)
		}},
		{name: "delete the log", run: api("STREAM.DELETE.EVENTS", nil)},
		{name: "purge the log", run: api("STREAM.PURGE.EVENTS", nil)},
		{name: "delete a commit", run: api("STREAM.MSG.DELETE.EVENTS", map[string]any{"seq": 1})},
		{name: "copy the log into a stream of one's own",
			run: api("STREAM.CREATE.mine", jetstream.StreamConfig{Name: "mine", Subjects: []string{"mine"},
				Sources: []*jetstream.StreamSource{{Name: "EVENTS"}}})},
		{name: "create a stream over the commands",
			run: api("STREAM.CREATE.mine", jetstream.StreamConfig{Name: "mine", Subjects: []string{"sb.api.>"},
				NoAck: true})},
		{name: "restore over the log",
			run: then(api("STREAM.DELETE.EVENTS", nil), api("STREAM.RESTORE.EVENTS", map[string]any{"config": limited}))},
		{name: "snapshot the log", run: api("STREAM.SNAPSHOT.EVENTS", map[string]any{"deliver_subject": "mine"})},
		{name: "delete the objects", run: api("STREAM.DELETE.OBJ_objects", nil)},
		{name: "purge the objects", run: api("STREAM.PURGE.OBJ_objects", nil)},
		{name: "delete the definitions", run: api("STREAM.DELETE.KV_"+store.DefinitionBucket, nil)},
		{name: "delete a consumer", run: api("CONSUMER.DELETE.EVENTS.tester", nil)},
		{name: "pause a consumer", run: api("CONSUMER.PAUSE.EVENTS.tester", map[string]any{"pause_until": "2100-01-01T00:00:00Z"})},
		{name: "create a consumer", run: api("CONSUMER.CREATE.EVENTS.spy", map[string]any{"stream_name": "EVENTS", "config": map[string]any{
			"name": "spy", "ack_policy": "none"}})},
		{name: "create a durable consumer", run: api("CONSUMER.DURABLE.CREATE.EVENTS.spy", map[string]any{"stream_name": "EVENTS",
			"config": map[string]any{"durable_name": "spy", "ack_policy": "explicit"}})},
		{name: "create a consumer that pushes commands", run: api("CONSUMER.CREATE.EVENTS.push", map[string]any{"stream_name": "EVENTS",
			"config": map[string]any{"name": "push", "deliver_subject": "sb.api.override", "ack_policy": "none"}})},
		{name: "read a commit", run: api("STREAM.MSG.GET.EVENTS", map[string]any{"seq": 1})},
		{name: "read a commit directly", run: api("DIRECT.GET.EVENTS", map[string]any{"seq": 1})},
		{name: "list the streams", run: api("STREAM.LIST", nil)},
		{name: "step the leader down", run: api("META.LEADER.STEPDOWN", nil),
			never: "nats-server takes it from its system account alone"},
		named("have a pull answered into the log", pulled(commit)),
		{name: "have an info answered into the log", run: reply(info, "", note), lands: note},
		{name: "have the orchestrator answer into the log", run: reply("sb.api.get", "{}", note), lands: note},
		{name: "have an acknowledgement answered into the log", run: acknowledge(note), lands: note},
		named("have a pull answered as a command", pulled("sb.api.override")),
		named("have a pull answered as a report of another role", pulled("sb.api.agent.tester.report")),
	}
}

func TestNoPartyButTheOrchestratorChangesTheLog(t *testing.T) {
	for _, attacker := range []access.Party{developer, tester, notifier, notify, console, gateway, viewer, actor} {
		t.Run(attacker.String(), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.targets()
			var arrived []*nats.Subscription
			for _, filter := range []string{"sb.api.>", "sb.in.*.api.override", "sb.in.*.api.agent.tester.*"} {
				sub, err := e.system.Conn().SubscribeSync(filter)
				e.must(err)
				arrived = append(arrived, sub)
			}
			e.must(e.system.Conn().Flush())
			before := e.state()
			for _, a := range attacks() {
				nc := e.server.As(e.T, attacker)
				if err := a.run(e, nc); err == nil {
					t.Errorf("%s may %s", attacker, a.name)
				}
				if after := e.state(); after != before {
					t.Fatalf("%s by %s changed\n%s to\n%s", a.name, attacker, before, after)
				}
				nc.Close()
			}
			for _, sub := range arrived {
				for n, _, err := sub.Pending(); err != nil || n != 0; n, _, err = sub.Pending() {
					e.must(err)
					m, err := sub.NextMsg(time.Second)
					e.must(err)
					if p, _, err := (access.Entry{}).Requester(m.Subject); err != nil || p != attacker {
						t.Errorf("%s: a message came on %s", attacker, m.Subject)
					}
				}
			}
		})
	}
}

// On a server without accounts, whose log is a stream as anybody creates one, each of
// the attacks has its effect: what the test above finds refused is refused by the
// accounts, and the last line of the log's own settings is not what it rests on.
func TestTheAttacksWorkWithoutAccounts(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			e := unprotected(t, server)
			landed := e.await(a.lands)
			err := a.run(e, server.Connect(t))
			switch {
			case a.never != "":
				if err == nil {
					t.Errorf("it works, although %s", a.never)
				}
			case a.lands == "" && err != nil:
				t.Errorf("the attack itself is broken: %v", err)
			case a.lands != "":
				landed()
			}
		})
	}
}

// unprotected returns what newEnv does, on a server without accounts. All of it is made
// again, as the last attack may have left nothing.
func unprotected(t *testing.T, server *natstest.Server) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	e := &env{T: t, ctx: ctx, system: server.JetStream(t)}
	for _, stream := range []string{subject.EventStream, "mine"} {
		if err := e.system.DeleteStream(ctx, stream); !errors.Is(err, jetstream.ErrStreamNotFound) {
			e.must(err)
		}
	}
	var err error
	e.log, err = e.system.CreateStream(ctx, jetstream.StreamConfig{Name: subject.EventStream, Subjects: []string{subject.Events},
		AllowDirect: true})
	e.must(err)
	_, err = store.Provision(ctx, e.system, store.ProvisionConfig{Replicas: 1})
	e.must(err)
	for _, role := range []string{"developer", "tester"} {
		e.must(store.EnsureConsumer(ctx, e.system, role, []string{"sb.evt.work.issue." + role + ".*"}, store.ConsumerConfig{}))
	}
	e.targets()
	return e
}

// targets adds work for the developer and a responder to queries. Attacks by replies need both.
func (e *env) targets() {
	e.Helper()
	for range 4 {
		_, err := e.system.Publish(e.ctx, "sb.evt.work.issue.developer.a", []byte("{}"))
		e.must(err)
	}
	for _, to := range []string{"sb.api.get", "sb.in.*.api.get"} {
		_, err := e.system.Conn().Subscribe(to, func(m *nats.Msg) { _ = m.Respond([]byte("{}")) })
		e.must(err)
	}
	e.must(e.system.Conn().Flush())
}

// await returns what waits for a message on a subject, or, if the log has the subject,
// for the next message of the log.
func (e *env) await(to string) (landed func()) {
	e.Helper()
	if !strings.HasPrefix(to, "sb.evt.") {
		sub, err := e.system.Conn().SubscribeSync(cmp.Or(to, "nothing"))
		e.must(err)
		e.must(e.system.Conn().Flush())
		return func() {
			_, err := sub.NextMsgWithContext(e.ctx)
			e.must(err)
		}
	}
	// Any subject: what is delivered into the log comes there with the one that it had.
	added, err := e.log.CreateConsumer(e.ctx,
		jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy, AckPolicy: jetstream.AckNonePolicy})
	e.must(err)
	return func() {
		_, err := added.Next(jetstream.FetchContext(e.ctx))
		e.must(err)
	}
}

func TestARoleReachesItsOwnQueueAndNoOther(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		party access.Party
		queue string
		may   bool
	}{
		{developer, "developer", true}, {developer, "tester", false}, {developer, subject.Endings, false},
		{tester, "tester", true}, {tester, "developer", false},
		{notifier, subject.Endings, true}, {notifier, subject.Statuses, true}, {tester, subject.Statuses, false}, {notify, subject.Notifications, true}, {notify, subject.Endings, false}, {notifier, subject.Notifications, false},
		{notifier, "developer", false},
		{gateway, "developer", false}, {viewer, "developer", false}, {actor, "tester", false},
	} {
		js, err := jetstream.NewWithAPIPrefix(e.server.As(e.T, c.party), access.APIPrefix)
		e.must(err)
		ctx, cancel := context.WithTimeout(e.ctx, tries)
		consumer, err := js.Consumer(ctx, subject.EventStream, c.queue)
		cancel()
		if !c.may {
			if err == nil {
				t.Errorf("%s finds the queue of %s", c.party, c.queue)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s does not find its queue %s: %v", c.party, c.queue, err)
			continue
		}
		messages, err := consumer.Fetch(1, jetstream.FetchMaxWait(5*time.Second))
		e.must(err)
		for m := range messages.Messages() {
			if err := m.DoubleAck(e.ctx); err != nil {
				t.Errorf("%s cannot acknowledge: %v", c.party, err)
			}
		}
		e.must(messages.Error())
		info, err := consumer.Info(e.ctx)
		e.must(err)
		if info.NumAckPending != 0 || info.NumPending != 0 {
			t.Errorf("after the acknowledgement by %s %d are pending", c.party, info.NumPending+uint64(info.NumAckPending))
		}
	}
}

// The server attests the account of each request in the subject; a header of the sender says
// nothing.
func TestTheServerSaysWhoAsks(t *testing.T) {
	e := newEnv(t)
	_, err := e.system.Conn().Subscribe("sb.>", func(m *nats.Msg) {
		p, published, err := (access.Entry{}).Requester(m.Subject)
		_ = m.Respond(fmt.Appendf(nil, "%s %s %v", p, published, err))
	})
	e.must(err)
	e.must(e.system.Conn().Flush())
	for _, c := range []struct {
		party access.Party
		to    string
		heard bool
	}{
		{developer, "sb.api.agent.developer.report", true},
		{developer, "sb.api.agent.tester.report", false},
		{developer, "sb.api.agent.pm.report", false},
		{developer, "sb.api.get", true},
		{developer, "sb.api.open", false},
		{developer, "sb.api.override", false},
		{developer, "sb.api.signal", false},
		{developer, "sb.api.expire", false},
		{developer, "sb.api.allowance", false},
		{notifier, "sb.api.allowance", true},
		{gateway, "sb.api.allowance", true},
		{viewer, "sb.api.allowance", true}, // and the orchestrator refuses it: May
		{gateway, "sb.api.open", true},
		{gateway, "sb.api.signal", true},
		{gateway, "sb.api.cancel", true},
		{gateway, "sb.api.pause", true},
		{gateway, "sb.api.override", false},
		{gateway, "sb.api.agent.pm.report", false},
		{viewer, "sb.api.get", true},
		{viewer, "sb.api.cancel", true}, // and the orchestrator refuses it: May
		{viewer, "sb.api.agent.pm.claim", false},
		{actor, "sb.api.cancel", true},
		{actor, "sb.api.agent.developer.report", false},
		{admin, "sb.api.override", true},
	} {
		m := nats.NewMsg(c.to)
		m.Header.Set("Nats-Request-Info", `{"acc":"admin-ada"}`)
		reply, err := e.server.As(e.T, c.party).RequestMsg(m, tries)
		switch {
		case c.heard && err != nil:
			t.Errorf("%s on %s: %v", c.party, c.to, err)
		case !c.heard && err == nil:
			t.Errorf("%s was heard on %s: %s", c.party, c.to, reply.Data)
		case c.heard && string(reply.Data) != c.party.String()+" "+c.to+" <nil>":
			t.Errorf("%s on %s came as %s", c.party, c.to, reply.Data)
		}
	}
}

func TestOnlyTheGatewayKeepsAndReadsDeliveries(t *testing.T) {
	e := newEnv(t)
	for _, p := range []access.Party{gateway, developer, notifier, viewer, actor} {
		js, err := jetstream.NewWithAPIPrefix(e.server.As(e.T, p), access.APIPrefix)
		e.must(err)
		ctx, cancel := context.WithTimeout(e.ctx, tries)
		_, kept := js.Publish(ctx, "sb.hook.ping."+p.String(), []byte("{}"), jetstream.WithMsgID(p.String()))
		_, read := js.Consumer(ctx, subject.DeliveryStream, subject.DeliveryReader)
		cancel()
		if may := p == gateway; may != (kept == nil) || may != (read == nil) {
			t.Errorf("%s keeps: %v, reads: %v", p, kept, read)
		}
	}
	js, err := access.JetStreamAs(e.ctx, e.server.As(e.T, gateway), gateway)
	e.must(err)
	consumer, err := js.Consumer(e.ctx, subject.DeliveryStream, subject.DeliveryReader)
	e.must(err)
	messages, err := consumer.Fetch(1, jetstream.FetchMaxWait(5*time.Second))
	e.must(err)
	for m := range messages.Messages() {
		if err := m.DoubleAck(e.ctx); err != nil || m.Subject() != "sb.hook.ping.gateway" {
			t.Errorf("%s: %v", m.Subject(), err)
		}
	}
	stream, err := js.Stream(e.ctx, subject.DeliveryStream)
	e.must(err)
	if _, err := stream.GetLastMsgForSubject(e.ctx, "sb.hook.*.gateway"); err != nil {
		t.Error("it does not read one again:", err)
	}
	short, cancel := context.WithTimeout(e.ctx, tries)
	defer cancel()
	for name, err := range map[string]error{
		"purge":  stream.Purge(short),
		"delete": js.DeleteStream(short, subject.DeliveryStream),
	} {
		if err == nil {
			t.Errorf("it may %s the stream", name)
		}
	}
}

func TestAStrangerIsNotLetIn(t *testing.T) {
	e := newEnv(t)
	stranger, err := nkeys.CreateUser()
	e.must(err)
	public, err := stranger.PublicKey()
	e.must(err)
	for name, option := range map[string]nats.Option{
		"nobody": nats.Name("nobody"), "a password": nats.UserInfo("signalbox", "signalbox"), "a token": nats.Token("x"),
		"another key": nats.Nkey(public, stranger.Sign),
	} {
		nc, err := nats.Connect(e.server.URL, option, nats.MaxReconnects(0))
		if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v", name, err)
		}
		if nc != nil {
			nc.Close()
		}
	}
}

func TestAServiceIsToldThatItsKeyIsAnothers(t *testing.T) {
	parties := []access.Party{{Kind: access.Orchestrator}, {Kind: access.Gateway}, {Kind: access.Agent, Name: "pm"},
		{Kind: access.Agent, Name: "tester"},
		{Kind: access.View, Name: "vera"}}
	s := accesstest.Start(t, parties...)
	for _, key := range parties {
		nc := s.As(t, key)
		for _, as := range parties[:4] {
			_, err := access.JetStreamAs(t.Context(), nc, as)
			wrong := key != as && key.Kind != access.Orchestrator // whose account owns all
			if errors.Is(err, access.ErrOther) != wrong || !wrong && err != nil {
				t.Errorf("%s with the key of %s: %v", as, key, err)
			}
		}
	}
}

func TestOnlyTheGatewayHasThePMSaySomething(t *testing.T) {
	e := newEnv(t)
	pm := e.server.As(e.T, notifier)
	_, err := pm.Subscribe(subject.PostComment, func(m *nats.Msg) { _ = m.Respond(nil) })
	e.must(err)
	e.must(pm.Flush()) // the server has the subscription
	_, err = e.server.As(e.T, gateway).RequestWithContext(e.ctx, subject.PostComment, nil)
	e.must(err)
	for _, p := range []access.Party{developer, viewer, actor} {
		if _, err := e.server.As(e.T, p).Request(subject.PostComment, nil, tries); err == nil {
			t.Errorf("%s is heard", p)
		}
	}
}

func TestOnlyTheOrchestratorSaysThatALimitOfTheForgeIsReachedAndOnlyWhoUsesTheForgeHearsIt(t *testing.T) {
	e := newEnv(t)
	parties := []access.Party{orchestrator, gateway, developer, tester, notifier, viewer, actor}
	conns, heard := map[access.Party]*nats.Conn{}, map[access.Party]*nats.Subscription{}
	for _, p := range parties {
		conns[p] = e.server.As(e.T, p)
		var err error
		heard[p], err = conns[p].SubscribeSync(subject.ForgeLimits)
		e.must(err)
		e.must(conns[p].Flush())
	}
	for _, says := range parties {
		e.must(conns[says].Publish(subject.ForgeLimits, []byte(says.String())))
		e.must(conns[says].Flush())
		for _, p := range parties {
			hears := p == says || says == orchestrator && p.UsesForge()
			if hears {
				m, err := heard[p].NextMsgWithContext(e.ctx)
				e.must(err)
				if string(m.Data) != says.String() {
					t.Errorf("%s hears %s, want %s", p, m.Data, says)
				}
			}
			e.must(conns[p].Flush())
			if n, _, err := heard[p].Pending(); err != nil || n != 0 {
				t.Errorf("%s hears %d messages of %s, %v", p, n, says, err)
			}
		}
	}
}

func TestWhoMayOpenIsToldOfTheConfiguration(t *testing.T) {
	e := newEnv(t)
	_, err := e.server.As(e.T, gateway).Subscribe(subject.Configuration, func(m *nats.Msg) { _ = m.Respond(nil) })
	e.must(err)
	e.must(e.server.As(e.T, gateway).Flush())
	for p, may := range map[access.Party]bool{developer: false, notifier: false, viewer: false, actor: true, admin: true,
		{Kind: access.Orchestrator}: true} {
		_, err := e.server.As(e.T, p).Request(subject.Configuration, nil, tries)
		if heard := err == nil; heard != may {
			t.Errorf("%s is heard: %v", p, heard)
		}
	}
}
