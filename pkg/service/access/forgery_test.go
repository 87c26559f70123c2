package access_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
)

// witness records all that arrives in the orchestrator's account on subjects of Signalbox.
type witness struct {
	testing.TB
	server *accesstest.Server
	system *nats.Conn
	heard  *nats.Subscription
}

// newWitness returns a witness on a server with parties, who gets requests and replies to none.
func newWitness(t testing.TB, parties ...access.Party) *witness {
	t.Helper()
	w := &witness{TB: t, server: accesstest.Start(t, append(parties, orchestrator)...)}
	w.system = w.server.As(t, orchestrator)
	var err error
	if w.heard, err = w.system.SubscribeSync("sb.>"); err != nil {
		t.Fatal(err)
	}
	if err := w.system.Flush(); err != nil {
		t.Fatal(err)
	}
	return w
}

// check fails the test for each message that did not arrive as one of the sender's, and returns
// how many did.
func (w *witness) check(sender access.Party, of string) (arrived int) {
	w.Helper()
	if err := w.system.Flush(); err != nil {
		w.Fatal(err)
	}
	for {
		if n, _, err := w.heard.Pending(); err != nil || n == 0 {
			return arrived
		}
		m, err := w.heard.NextMsg(time.Second)
		if err != nil {
			w.Fatal(err)
		}
		arrived++
		if p, published, err := (access.Entry{}).Requester(m.Subject); err != nil || p != sender {
			w.Errorf("%s by %s arrives on %q, as of %s on %q (%v)", of, sender, m.Subject, p, published, err)
		}
	}
}

// lines are what a client may write in place of a publication, each of one connection.
func lines() map[string]string {
	const claim = "Nats-Request-Info: {\"acc\":\"admin-ada\"}"
	hpub := func(to, header string) string {
		return fmt.Sprintf("HPUB %s %d %d\r\n%s{}\r\n", to, len(header), len(header)+2, header)
	}
	return map[string]string{
		"as another account":                   "PUB sb.in.admin-ada.api.open 2\r\n{}\r\n",
		"as the orchestrator":                  "PUB sb.in.signalbox.api.open 2\r\n{}\r\n",
		"as a probe":                           "PUB sb.in.signalbox.api.probe-1 0\r\n\r\n",
		"on a wildcard":                        "PUB sb.api.* 2\r\n{}\r\n",
		"on a full wildcard":                   "PUB sb.api.> 2\r\n{}\r\n",
		"on a wildcard of accounts":            "PUB sb.in.*.api.open 2\r\n{}\r\n",
		"with a tab in the subject":            "PUB sb.api.open\tsb.in.admin-ada.api.open 2\r\n{}\r\n",
		"with a NUL in the subject":            "PUB sb.api.open\x00.x 2\r\n{}\r\n",
		"with a LF in the subject":             "PUB sb.api.o\npen 2\r\n{}\r\n",
		"with an empty token":                  "PUB sb.api..open 2\r\n{}\r\n",
		"with a transform in the subject":      "PUB sb.api.{{wildcard(1)}} 2\r\n{}\r\n",
		"with a reference in the subject":      "PUB sb.api.$1 2\r\n{}\r\n",
		"with a long subject":                  "PUB sb.api." + strings.Repeat("a.", 2000) + "a 2\r\n{}\r\n",
		"of another role":                      "PUB sb.api.agent.pm.report 2\r\n{}\r\n",
		"as a commit":                          "PUB sb.evt.work.issue.received.a 2\r\n{}\r\n",
		"as a timer":                           "PUB sb.timer.fired.deadline.a 2\r\n{}\r\n",
		"as an orchestrator that is active":    "PUB sb.orchestrator.duty 2\r\n{}\r\n",
		"as a limit of the forge":              "PUB sb.forge.limits 2\r\n{}\r\n",
		"as a webhook":                         "PUB sb.hook.push.1 2\r\n{}\r\n",
		"with the message of a route":          "RMSG signalbox sb.in.admin-ada.api.open 2\r\n{}\r\n",
		"with the message of a leaf":           "LMSG sb.in.admin-ada.api.open 2\r\n{}\r\n",
		"with a second connect":                "CONNECT {\"account\":\"signalbox\",\"nkey\":\"UA\",\"sig\":\"x\"}\r\nPUB sb.api.open 2\r\n{}\r\n",
		"with an account protocol line":        "A+ signalbox\r\nPUB sb.api.open 2\r\n{}\r\n",
		"with a header length of zero":         "HPUB sb.api.open 0 2\r\n{}\r\n",
		"with a header longer than all":        "HPUB sb.api.open 99 2\r\n{}\r\n",
		"with a header of another version":     hpub("sb.api.open", "NATS/9.9\r\n"+claim+"\r\n\r\n"),
		"with a header without its line":       hpub("sb.api.open", claim+"\r\n\r\n"),
		"with a header line that has no colon": hpub("sb.api.open", "NATS/1.0\r\nnonsense\r\n\r\n"),
		"with a header that ends early":        hpub("sb.api.open", "NATS/1.0\r\nA: b\n\n"+claim+"\r\n\r\n"),
		"with a header that never ends":        hpub("sb.api.open", "NATS/1.0\r\nA: b"),
		"with a claim after a bare LF":         hpub("sb.api.open", "NATS/1.0\r\nA: b\n"+claim+"\n\r\n"),
		"with a claim after a bare CR":         hpub("sb.api.open", "NATS/1.0\r\nA: b\r"+claim+"\r\r\n"),
		"with a folded claim":                  hpub("sb.api.open", "NATS/1.0\r\nA: b\r\n "+claim+"\r\n\r\n"),
		"with a trace to a command":            hpub("sb.api.open", "NATS/1.0\r\nNats-Trace-Dest: sb.api.override\r\n\r\n"),
		"with a trace to another account":      hpub("sb.api.open", "NATS/1.0\r\nNats-Trace-Dest: sb.in.admin-ada.api.override\r\nNats-Trace-Only: true\r\n\r\n"),
		"with an old trace":                    hpub("sb.api.open", "NATS/1.0\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nNats-Trace-Hop: 1\r\n\r\n"),
		"with a schedule":                      hpub("sb.api.open", "NATS/1.0\r\nNats-Schedule: @at 2020-01-01T00:00:00Z\r\nNats-Schedule-Target: sb.in.admin-ada.api.open\r\n\r\n"),
	}
}

func TestNoLineOfTheProtocolComesFromAnotherAccount(t *testing.T) {
	for _, sender := range []access.Party{viewer, actor, developer, gateway, admin} {
		t.Run(sender.String(), func(t *testing.T) { // the trace of a message arrives late: each has a server
			t.Parallel()
			w := newWitness(t, viewer, actor, developer, gateway, admin, notifier, tester)
			for name, line := range lines() {
				if sender == gateway && name == "as a webhook" { // which the gateway keeps for itself
					continue
				}
				r := w.server.Raw(t, sender)
				if err := r.Write([]byte(line)); err != nil {
					t.Fatal(err)
				}
				if err := r.Flush(); err != nil && !errors.Is(err, accesstest.ErrRefused) {
					t.Fatal(err)
				}
				w.check(sender, name)
			}
			// The witness receives what is honest.
			r := w.server.Raw(t, sender)
			if err := errors.Join(r.Write([]byte("PUB sb.api.get 2\r\n{}\r\n")), r.Flush()); err != nil {
				t.Fatal(err)
			}
			if w.check(sender, "an honest request") == 0 {
				t.Error("an honest request does not arrive")
			}
		})
	}
}

// The server delivers a subject with a CR as it is, and the client library of a subscriber ends
// the connection on it. The witness would lose its own: it subscribes to all subjects. A service
// subscribes to each command by name, and no such subject is one.
func TestASubjectWithACarriageReturnReachesNoSubscriptionToACommand(t *testing.T) {
	parties := []access.Party{viewer, actor, developer, gateway, admin}
	server := accesstest.Start(t, append(parties, orchestrator)...)
	system := server.As(t, orchestrator)
	var heard []*nats.Subscription
	for _, to := range []string{"sb.api.open", "sb.api.get", "sb.api.agent.*.claim"} {
		on, err := access.Entry{}.Subject(to)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := system.SubscribeSync(on)
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, sub)
	}
	if err := system.Flush(); err != nil {
		t.Fatal(err)
	}
	arrived := func() (all int) {
		if err := system.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, sub := range heard {
			n, _, err := sub.Pending()
			if err != nil {
				t.Fatal(err)
			}
			all += n
		}
		return all
	}
	for i, sender := range parties {
		for _, to := range []string{"sb.api.o\rpen", "sb.api.open\r", "sb.api.\ropen", "sb.api.\r", "sb.api.agent.developer.cl\raim", "sb.api.agent.devel\roper.claim"} {
			r := server.Raw(t, sender)
			if err := errors.Join(r.Write([]byte("PUB "+to+" 2\r\n{}\r\n")), r.Flush()); err != nil {
				t.Fatalf("%q by %s: %v", to, sender, err)
			}
		}
		if n := arrived(); n != i {
			t.Errorf("%d of them arrive from %s", n-i, sender)
		}
		r := server.Raw(t, sender)
		if err := errors.Join(r.Write([]byte("PUB sb.api.get 2\r\n{}\r\n")), r.Flush()); err != nil {
			t.Fatal(err)
		}
		if n := arrived(); n != i+1 {
			t.Errorf("an honest request of %s does not arrive", sender)
		}
	}
	if n := system.Stats().Reconnects; n > 0 {
		t.Errorf("the service lost its connection %d times", n)
	}
}

// FuzzHeader holds that whatever the bytes of a header are, a request that arrives is of its
// sender.
func FuzzHeader(f *testing.F) {
	for _, header := range lines() {
		if at := strings.Index(header, "NATS/"); at >= 0 {
			f.Add([]byte(header[at:]))
		}
	}
	w := newWitness(f, viewer, admin)
	f.Fuzz(func(t *testing.T, header []byte) {
		if len(header) > 4096 {
			return
		}
		w := &witness{t, w.server, w.system, w.heard}
		r := w.server.Raw(t, viewer)
		if err := r.Write(fmt.Appendf(nil, "HPUB sb.api.open %d %d\r\n%s{}\r\n", len(header), len(header)+2, header)); err != nil {
			t.Skip(err)
		}
		_ = r.Flush() // the server may have refused it
		w.check(viewer, fmt.Sprintf("%q", header))
	})
}

// What other parties request, and what they get for it, stays between them and the orchestrator.
func TestNobodyHearsTheRequestsAndRepliesOfOthers(t *testing.T) {
	senders := []access.Party{viewer, actor, developer, gateway}
	w := newWitness(t, append(senders, notifier, tester)...)
	if _, err := w.system.Subscribe("sb.in.*.api.get", func(m *nats.Msg) { _ = m.Respond([]byte("secret")) }); err != nil {
		t.Fatal(err)
	}
	var spies []*nats.Subscription
	for _, spy := range senders {
		nc := w.server.As(t, spy)
		for _, filter := range []string{"sb.>", "sb.in.>", "sb.api.>", "_R_.>", "_INBOX.>", ">"} {
			sub, err := nc.SubscribeSync(filter)
			if err != nil {
				t.Fatal(err)
			}
			spies = append(spies, sub)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for _, asker := range []access.Party{notifier, tester} {
		if m, err := w.server.As(t, asker).Request("sb.api.get", nil, 10*time.Second); err != nil || string(m.Data) != "secret" {
			t.Fatalf("%v, %v", m, err)
		}
	}
	for _, sub := range spies {
		if n, _, err := sub.Pending(); err != nil || n != 0 {
			t.Errorf("%d messages came on %s, %v", n, sub.Subject, err)
		}
	}
}
