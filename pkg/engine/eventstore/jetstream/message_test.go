package jetstream

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
)

func TestAMessage(t *testing.T) {
	c := eventstoretest.Next("acme/widgets.go/42", "cmd-1", eventstore.Commit{Seq: 6})
	c.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	m, err := encode(c, detour{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("looks so on the wire", func(t *testing.T) {
		want := &nats.Msg{Subject: "sb.evt.work.issue.received.acme/widgets=2Ego/42", Data: []byte("data of cmd-1"), Header: nats.Header{
			"Nats-Msg-Id":                                 {"cmd-1"},
			"Nats-Expected-Stream":                        {"EVENTS"},
			"Nats-Expected-Last-Subject-Sequence":         {"6"},
			"Nats-Expected-Last-Subject-Sequence-Subject": {"sb.evt.*.*.*.acme/widgets=2Ego/42"},
			"ce-time":     {"2026-01-02T03:04:05.123456789Z"},
			"traceparent": {c.Trace},
			"Sb-Chain":    {"47giQQGLY1JhmTHfsT-Pi2Pf6TgC-k3wf3fj0LdSulo"},
		}}
		if m.Subject != want.Subject || string(m.Data) != string(want.Data) {
			t.Fatalf("got %q on %s", m.Data, m.Subject)
		}
		if diff := cmp.Diff(want.Header, m.Header); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
	t.Run("comes back as the commit", func(t *testing.T) {
		want := c
		want.Seq = 9
		got, err := decode(m.Subject, m.Header, m.Data, 9)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
	t.Run("of the first logs comes back as well", func(t *testing.T) {
		want := c
		want.Seq = 9
		m, err := encode(c, detour{})
		if err != nil {
			t.Fatal(err)
		}
		m.Header.Set("Sb-Chain", c.Chain)
		for _, h := range [][2]string{{"ce-specversion", "1.0"}, {"ce-id", c.ID}, {"ce-source", "/signalbox"}, {"ce-type", Type}} {
			m.Header.Set(h[0], h[1])
		}
		got, err := decode(m.Subject, m.Header, m.Data, 9)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
	for name, spoil := range map[string]func(*nats.Msg){
		"without an id":                  func(m *nats.Msg) { m.Header.Del("Nats-Msg-Id") },
		"without an expected sequence":   func(m *nats.Msg) { m.Header.Del("Nats-Expected-Last-Subject-Sequence") },
		"under another filter":           func(m *nats.Msg) { m.Header.Set("Nats-Expected-Last-Subject-Sequence-Subject", "sb.evt.>") },
		"under another instance's":       func(m *nats.Msg) { m.Subject = "sb.evt.work.issue.received.b" },
		"without a time":                 func(m *nats.Msg) { m.Header.Del("ce-time") },
		"without a chain":                func(m *nats.Msg) { m.Header.Del("Sb-Chain") },
		"with a chain cut short":         func(m *nats.Msg) { m.Header.Set("Sb-Chain", m.Header.Get("Sb-Chain")[:42]) },
		"with a chain too long":          func(m *nats.Msg) { m.Header.Set("Sb-Chain", strings.Repeat("A", 70)) },
		"with a chain that is no hash":   func(m *nats.Msg) { m.Header.Set("Sb-Chain", strings.Repeat("x", 64)) },
		"with a chain spelled otherwise": func(m *nats.Msg) { m.Header.Set("Sb-Chain", m.Header.Get("Sb-Chain")[:42]+"_") },
		"on a subject of no commit":      func(m *nats.Msg) { m.Subject = "sb.evt.junk" },
		"with an id of another spelling": func(m *nats.Msg) { m.Subject = "sb.evt.work.issue.received.=61" },
	} {
		t.Run(name+" is damage", func(t *testing.T) {
			m := &nats.Msg{Subject: m.Subject, Header: nats.Header{}, Data: m.Data}
			good, err := encode(c, detour{})
			if err != nil {
				t.Fatal(err)
			}
			m.Header = good.Header
			spoil(m)
			if _, err := decode(m.Subject, m.Header, m.Data, 9); !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "sequence 9") {
				t.Fatalf("got %v, want ErrCorrupt at sequence 9", err)
			}
		})
	}
	for name, h := range map[string]nats.Header{
		"without headers":               nil,
		"of another program":            {"ce-time": {"2026-01-02T03:04:05Z"}, "ce-type": {"order.made"}, "Nats-Msg-Id": {"cmd-1"}},
		"of another sequenced program":  {"Nats-Expected-Last-Subject-Sequence": {"6"}, "Nats-Expected-Last-Subject-Sequence-Subject": {"sb.evt.>"}},
		"with our headers without text": {"Sb-Chain": {""}, "ce-time": {""}},
	} {
		t.Run(name+" is set aside", func(t *testing.T) {
			for _, subj := range []string{m.Subject, "sb.evt.junk", "sb.evt.work.issue.received.=61"} {
				got, err := decode(subj, h, []byte("\x1b[2J\n"), 9)
				if err != nil || got.Foreign == nil || got.Seq != 9 || got.Instance != "" || got.ID != "" {
					t.Fatalf("got %+v, %v", got, err)
				}
				if text := got.Foreign.String(); !strings.Contains(text, subj) || !strings.Contains(text, `5 bytes: "\x1b[2J\n"`) {
					t.Errorf("it is described as %s", text)
				}
			}
		})
	}
	t.Run("that goes round a foreign one comes back as the commit", func(t *testing.T) {
		want := c
		want.Seq = 9
		m, err := encode(c, detour{after: 8, otherID: true})
		if err != nil {
			t.Fatal(err)
		}
		if seq, id := m.Header.Get("Nats-Expected-Last-Subject-Sequence"), m.Header.Get("Nats-Msg-Id"); seq != "8" || id == c.ID {
			t.Errorf("it expects %s and has the message id %s", seq, id)
		}
		got, err := decode(m.Subject, m.Header, m.Data, 9)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
		m.Header.Set("Sb-Prev", "8")
		if _, err := decode(m.Subject, m.Header, m.Data, 9); !errors.Is(err, eventstore.ErrCorrupt) {
			t.Errorf("one that follows what it was appended after: %v", err)
		}
	})
}
