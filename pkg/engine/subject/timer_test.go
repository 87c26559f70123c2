package subject

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestATimersSubject(t *testing.T) {
	for want, timer := range map[string]Timer{
		"sb.timer.armed.deadline.acme/widgets/42": {Kind: "deadline", Instance: "acme/widgets/42"},
		"sb.timer.fired.wake.a=2Eb=20=2A=3E":      {Kind: "wake", Instance: "a.b *>", Fired: true},
	} {
		got, err := timer.Subject()
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if back, err := ParseTimer(got); err != nil || back != timer {
			t.Errorf("parsed %+v, %v, want %+v", back, err, timer)
		}
	}
}

func TestParsingUndoesBuildingOfAnyTimer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timer := Timer{
			Kind:     rapid.StringMatching(`[a-z0-9_-]{1,64}`).Draw(t, "kind"),
			Instance: rapid.StringN(1, -1, MaxInstance).Draw(t, "instance"), Fired: rapid.Bool().Draw(t, "fired"),
		}
		s, err := timer.Subject()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseTimer(s); err != nil || back != timer {
			t.Fatalf("%q parsed to %+v, %v, want %+v", s, back, err, timer)
		}
	})
}

func TestWhatIsNoTimerIsRefused(t *testing.T) {
	for name, make := range map[string]func() error{
		"an empty id":        func() error { _, err := Timer{Kind: "wake"}.Subject(); return err },
		"a wild kind":        func() error { _, err := Timer{Kind: "*", Instance: "a"}.Subject(); return err },
		"another subject":    func() error { _, err := ParseTimer("sb.evt.work.a.b.c"); return err },
		"another phase":      func() error { _, err := ParseTimer("sb.timer.broken.wake.a"); return err },
		"a bad kind":         func() error { _, err := ParseTimer("sb.timer.armed.W.a"); return err },
		"a second spelling":  func() error { _, err := ParseTimer("sb.timer.armed.wake.=41"); return err },
		"a token too many":   func() error { _, err := ParseTimer("sb.timer.armed.wake.a.b"); return err },
		"nothing but a name": func() error { _, err := ParseTimer("sb.timer.armed.wake."); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := make(); !errors.Is(err, ErrInvalid) {
				t.Fatalf("got %v, want ErrInvalid", err)
			}
		})
	}
}
