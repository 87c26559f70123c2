package agent

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
)

func TestTheOutputOfWorkIsCleanedBeforeItLeavesTheAgent(t *testing.T) {
	scanner, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	const own = "hunter2-hunter2-hunter2"
	l := &live{redact: redactor{scanner.With(own)}}
	for in, want := range map[string]string{
		"plain":                                     "plain",
		"\x1b[31mred\x1b[0m and \x1b[2Kgone":        "red and gone",
		"\x1b]0;a title\x07then":                    "‹12 bytes to the terminal removed›then",
		"\x1b]1338;url=http://evil/x.png\x1b\\then": "‹30 bytes to the terminal removed›then",
		"\x1bPq#0\x1b\\x":                           "‹7 bytes to the terminal removed›x",
		"\x1b]never ends":                           "‹12 bytes to the terminal removed›",
		"a\x07b\u202ec":                             "a‹U+0007›b‹U+202E›c",
		"it is " + own:                              "it is [redacted: own-credential]",
		"it is hunter2\x1b[0m-hunter2-hunter2":      "it is [redacted: own-credential]",
		"<script>alert(1)</script>":                 "<script>alert(1)</script>",
		"\xff":                                      "\uFFFD",
		`{"type":"system"}`:                         "· system",
		`{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}`: "I look.\nls\n> Bash",
		`{not json`: "{not json",
		strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000): "· ",
	} {
		if got := l.cleaned(in); got != want && strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%.60q: %.200q, want %q", in, got, want)
		}
	}
}

func TestTheOutputOfWorkIsBoundedAndItsEndIsKept(t *testing.T) {
	l := &live{}
	if got := l.newest(0); got.Version != 0 || got.Text != "" {
		t.Errorf("at first: %+v", got)
	}
	for range 1000 {
		l.add(strings.Repeat("x", 999))
	}
	l.add("the end")
	got := l.newest(0)
	if len(got.Text) > maxLive || !strings.HasSuffix(got.Text, "\nthe end") || got.Lost != 1000*1000+8-int64(len(got.Text))-1 {
		t.Errorf("%d bytes, %d lost", len(got.Text), got.Lost)
	}
	if again := l.newest(got.Version); again.Text != "" || again.Version != got.Version {
		t.Errorf("nothing is new: %.50q", again.Text)
	}
	l.add(strings.Repeat("y", 1<<20))
	if got := l.newest(0); len(got.Text) > maxLive || !strings.Contains(got.Text, "bytes left out›") {
		t.Errorf("of a long line %d bytes", len(got.Text))
	}
	var none *live
	none.add("x")
}

func TestAPrivateKeyIsRemovedThoughItsFirstLineIsLost(t *testing.T) {
	scanner, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"RSA ", "OPENSSH ", ""} {
		l := &live{redact: redactor{scanner}}
		l.add("-----BEGIN " + kind + "PRIVATE " + "KEY-----")
		secretLine := strings.Repeat("MIIEpAIBAAKCAQEA", 4)
		for range 40 {
			l.add(secretLine)
		}
		for range maxLive/1000 - 1 {
			l.add(strings.Repeat("x", 999))
		}
		got := l.newest(0)
		if got.Lost == 0 || strings.Contains(got.Text, secretLine[:32]) {
			t.Errorf("%s: %d bytes lost; it shows %.200q", kind, got.Lost, got.Text)
		}
		l.add("-----END " + kind + "PRIVATE " + "KEY-----\nwhat follows")
		for range maxLive / 1000 {
			l.add("after")
		}
		if got := l.newest(0); !strings.Contains(got.Text, "after") || strings.Contains(got.Text, secretLine[:32]) {
			t.Errorf("%s: then it shows %.200q", kind, got.Text)
		}
	}
}

func TestTheOutputOfWorkIsReadWhileItIsWritten(t *testing.T) {
	l := &live{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				l.add("line\nline\n")
			}
		})
		all.Go(func() {
			seen := uint64(0)
			for range 200 {
				got := l.newest(seen)
				if got.Version < seen {
					t.Error("it went back")
				}
				seen = got.Version
			}
		})
	}
	all.Wait()
	if got := l.newest(0); got.Version != 800 || strings.Count(got.Text, "line") != 1600 {
		t.Errorf("version %d, %d lines", got.Version, strings.Count(got.Text, "line"))
	}
}

func BenchmarkOutputThatNobodyLooksAt(b *testing.B) {
	l := &live{}
	line := secrettest.Chars(80, secrettest.Alnum)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		l.add(line)
	}
}

// The scan for credentials finds none in the beginning of one.
func TestALongLineIsNotCutWithinAWord(t *testing.T) {
	l := new(live)
	l.add(strings.Repeat("x ", maxLiveLine/2-4) + "a-credential-of-many-letters")
	if got := l.newest(0).Text; strings.Contains(got, "a-cred") || !strings.Contains(got, "x x  ‹28 bytes left out›") {
		t.Errorf("it ends with %q", got[max(0, len(got)-60):])
	}
}

func TestOutputIsServedFromItsFirstLineToItsEnd(t *testing.T) {
	var events []string
	l := &live{}
	l.add("before the work")
	l.show(func() func() {
		events = append(events, "serve")
		return func() { events = append(events, "stop") }
	})
	if events != nil {
		t.Errorf("work that prints nothing is served: %v", events)
	}
	l.add("one")
	l.add("two")
	l.hide()
	l.add("late")
	if want := []string{"serve", "stop"}; !slices.Equal(events, want) {
		t.Errorf("got %v, want %v", events, want)
	}
	silent := &live{}
	silent.show(func() func() { t.Error("served"); return func() {} })
	silent.hide()
}
