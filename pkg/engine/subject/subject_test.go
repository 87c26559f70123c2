package subject

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAnEventsSubject(t *testing.T) {
	for _, c := range []struct {
		name  string
		event Event
		want  string
	}{
		{"of work is readable", Event{"issue", "running_tests", "acme/widgets/42", true}, "sb.evt.work.issue.running_tests.acme/widgets/42"},
		{"of a note says so", Event{"issue", "completed", "acme/widgets/42", false}, "sb.evt.note.issue.completed.acme/widgets/42"},
		{"of a question names who is asked", Event{"pipeline", "@git-manager", "acme/widgets/42", true}, "sb.evt.work.pipeline.@git-manager.acme/widgets/42"},
		{"of what people must know says so", Event{"pipeline", People, "acme/widgets/42", false}, "sb.evt.note.pipeline.@people.acme/widgets/42"},
		{"keeps an awkward id one token", Event{"task", "pending", "a.b *>=\t\u00e9", true}, "sb.evt.work.task.pending.a=2Eb=20=2A=3E=3D=09=C3=A9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.event.Subject()
			if err != nil || got != c.want {
				t.Fatalf("got %q, %v, want %q", got, err, c.want)
			}
			if back, err := ParseEvent(got); err != nil || back != c.event {
				t.Fatalf("parsed %+v, %v, want %+v", back, err, c.event)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	for _, c := range []struct {
		name, want string
		make       func() (string, error)
	}{
		{"of an instance", "sb.evt.*.*.*.acme/widgets=2Ego/42", func() (string, error) { return Instance("acme/widgets.go/42") }},
		{"of a role's state", "sb.evt.work.issue.planning.*", func() (string, error) { return Work("issue", "planning") }},
		{"of what a role is asked", "sb.evt.work.*.@git-manager.*", func() (string, error) { return WorkFor("git-manager") }},
		{"of what people must know", "sb.evt.note.*.@people.*", func() (string, error) { return Told, nil }},
		{"of a final state", "sb.evt.note.issue.completed.*", func() (string, error) { return Ended("issue", "completed") }},
		{"of an agent command from any role", "sb.api.agent.*.claim", func() (string, error) { return AnyAgent(Claim) }},
		{"of one role's commands", "sb.api.agent.git-manager.*", func() (string, error) { return AgentsOf("git-manager") }},
		{"of a command", "sb.api.open", func() (string, error) { return API(Open) }},
		{"of an agent's command", "sb.api.agent.git-manager.report", func() (string, error) { return Agent("git-manager", Report) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := c.make(); err != nil || got != c.want {
				t.Fatalf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, make := range map[string]func() error{
		"an empty id":                  func() error { _, err := Instance(""); return err },
		"an id of 201 bytes":           func() error { _, err := Instance(strings.Repeat("x", 201)); return err },
		"an id that is not UTF-8":      func() error { _, err := Instance("\xff"); return err },
		"a workflow with a dot":        func() error { _, err := Work("a.b", "c"); return err },
		"a wildcard as a state":        func() error { _, err := Work("a", "*"); return err },
		"a wildcard as a final state":  func() error { _, err := Ended("a", ">"); return err },
		"an address as a workflow":     func() error { _, err := Event{"@a", "b", "c", true}.Subject(); return err },
		"an address of nobody":         func() error { _, err := Event{"a", "@", "c", true}.Subject(); return err },
		"an address of an address":     func() error { _, err := Event{"a", "@@b", "c", true}.Subject(); return err },
		"an address as a state's work": func() error { _, err := Work("a", "@b"); return err },
		"an address as a role":         func() error { _, err := WorkFor("@b"); return err },
		"an address that is no name":   func() error { _, err := ParseEvent("sb.evt.work.a.@B.c"); return err },
		"a state in upper case":        func() error { _, err := Event{"a", "B", "c", true}.Subject(); return err },
		"an event with a bad id":       func() error { _, err := Event{"a", "b", "", true}.Subject(); return err },
		"a role that is empty":         func() error { _, err := Agent("", Claim); return err },
		"a name of 65 bytes":           func() error { return CheckName(strings.Repeat("x", 65)) },
		"a command with a space":       func() error { _, err := API("open it"); return err },
		"a wild agent command":         func() error { _, err := AnyAgent(">"); return err },
		"a wild role":                  func() error { _, err := AgentsOf(">"); return err },
		"a foreign subject":            func() error { _, err := ParseEvent("orders.work.a.b.c"); return err },
		"an unknown kind":              func() error { _, err := ParseEvent("sb.evt.play.a.b.c"); return err },
		"a token too few":              func() error { _, err := ParseEvent("sb.evt.work.a.b"); return err },
		"a token too many":             func() error { _, err := ParseEvent("sb.evt.work.a.b.c.d"); return err },
		"an instance that is empty":    func() error { _, err := ParseEvent("sb.evt.work.a.b."); return err },
		"a state that is no name":      func() error { _, err := ParseEvent("sb.evt.work.a.B.c"); return err },
		"a second spelling of an id":   func() error { _, err := Unescape("=41"); return err },
		"an escape in lower case":      func() error { _, err := Unescape("=2e"); return err },
		"an escape cut short":          func() error { _, err := Unescape("a=2"); return err },
		"an escape that is not hex":    func() error { _, err := Unescape("=ZZ"); return err },
		"a wildcard token":             func() error { _, err := Unescape("*"); return err },
		"an agent command as a plain":  func() error { _, err := ParseAPI("sb.api.agent.pm.claim"); return err },
		"a plain command as an agents": func() error { _, _, err := ParseAgent("sb.api.open"); return err },
		"a dead letter elsewhere":      func() error { _, _, err := ParseDead("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.X.pm"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := make(); !errors.Is(err, ErrInvalid) {
				t.Fatalf("got %v, want ErrInvalid", err)
			}
		})
	}
}

func TestParsingUndoesBuilding(t *testing.T) {
	t.Run("of a command", func(t *testing.T) {
		if c, err := ParseAPI("sb.api.open"); err != nil || c != Open {
			t.Fatalf("got %q, %v", c, err)
		}
	})
	t.Run("of an agent's command", func(t *testing.T) {
		if r, c, err := ParseAgent("sb.api.agent.pm.claim"); err != nil || r != "pm" || c != Claim {
			t.Fatalf("got %q %q, %v", r, c, err)
		}
	})
	t.Run("of a dead letter", func(t *testing.T) {
		for s, want := range map[string]bool{
			"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.EVENTS.pm": false,
			"$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.EVENTS.pm": true,
		} {
			if role, refused, err := ParseDead(s); err != nil || role != "pm" || refused != want {
				t.Fatalf("%s: got %q %v, %v", s, role, refused, err)
			}
		}
	})
	t.Run("of any event", rapid.MakeCheck(func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9_-]{1,64}`)
		e := Event{name.Draw(t, "workflow"), rapid.SampledFrom([]string{"", "@"}).Draw(t, "address") + name.Draw(t, "state"),
			rapid.StringN(1, -1, MaxInstance).Draw(t, "instance"), rapid.Bool().Draw(t, "wakes")}
		s, err := e.Subject()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseEvent(s); err != nil || back != e {
			t.Fatalf("%q parsed to %+v, %v, want %+v", s, back, err, e)
		}
		filter, err := Instance(e.Instance)
		if err != nil || !e.Of(filter) || e.Of(s) || e.Of(filter+"x") {
			t.Fatalf("%+v and the filter %q, %v", e, filter, err)
		}
	}))
}

// key is what the key-value store takes as a key.
var key = regexp.MustCompile(`^[-/_=.a-zA-Z0-9]+$`)

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"acme/widgets/42", "a.b", "* >", "=2E", "größe", "\x00\xff", "%41", "$JS"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if CheckInstance(id) != nil {
			t.Skip()
		}
		token := Escape(id)
		if strings.Contains(token, ".") || !key.MatchString(token) {
			t.Fatalf("%q is not one token that is a legal key", token)
		}
		if back, err := Unescape(token); err != nil || back != id {
			t.Fatalf("%q came back as %q, %v", id, back, err)
		}
	})
}

func FuzzUnescape(f *testing.F) {
	for _, s := range []string{"a=2Eb", "=", "=2", "==2E", "=FF", "=C3=A9", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if id, err := Unescape(token); err == nil && Escape(id) != token {
			t.Fatalf("%q and %q both name %q", token, Escape(id), id)
		}
	})
}
