package secret_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
)

func scanner(t testing.TB) *secret.Scanner {
	t.Helper()
	s, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEachKindIsFoundWhereItStandsAndRedacted(t *testing.T) {
	s := scanner(t)
	for name, text := range secrettest.Corpus(t) {
		t.Run(name, func(t *testing.T) {
			found := s.Scan("nothing\nhere\nkey: " + text + "\nnothing\n")
			if len(found) == 0 || found[0].Line != 3 {
				t.Fatalf("found %v", found)
			}
			redacted := s.Redact("nothing\nhere\nkey: " + text + "\nnothing\n")
			if again := s.Scan(redacted); len(again) > 0 || !strings.HasPrefix(redacted, "nothing\nhere\n") ||
				!strings.HasSuffix(redacted, "\nnothing\n") {
				t.Errorf("redacted to %q, in which is found %v", redacted, again)
			}
		})
	}
}

func TestWhatIsNoSecretIsNotFound(t *testing.T) {
	s := scanner(t)
	for _, text := range []string{
		"", "\x00", "AK" + "IAIOSFODNN7EXAMPLE", "sk-ant-hill", "sk_test_", "https://user@example.test/",
		"https://github.com/acme/widgets/pull/1",
		"git@github.com:acme/widgets.git", "postgres://app:$PASSWORD@db/app", "http://user:***@host/", "sha256:" + secrettest.Chars(64, secrettest.Hexes),
		"commit " + secrettest.Chars(40, secrettest.Hexes),
		"func (s *Scanner) Scan(text string) []Finding", "h1:" + secrettest.Chars(43, secrettest.Alnum) + "=", `integrity "sha512-` + secrettest.Chars(86, secrettest.Alnum) + `=="`,
		"-----BEGIN PUBLIC KEY-----",
		"SUMMARY", "password = os.Getenv(\"PASSWORD\")", `{"token": "your-token-here"}`,
	} {
		if found := s.Scan(text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
		if got := s.Redact(text); got != text {
			t.Errorf("%q was redacted to %q", text, got)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, text := range secrettest.Corpus(f) {
		f.Add(text)
	}
	s := scanner(f)
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n")
		for _, found := range s.Scan(text) {
			if found.Line < 1 || found.Line > lines+1 {
				t.Errorf("%v is on no line of %q", found, text)
			}
		}
		s.Redact(text)
	})
}

func BenchmarkScan(b *testing.B) {
	s := scanner(b)
	text := strings.Repeat("func (s *Scanner) Scan(text string) []Finding { return nil } // nothing here\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Scan(text)
	}
}

func newScanner(t *testing.T) *secret.Scanner {
	t.Helper()
	s, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestACredentialIsFoundByItsValueHoweverItLooks(t *testing.T) {
	const own = "correct horse battery staple"
	s := newScanner(t).With(own, "short", "", "tavern-lantern")
	for text, want := range map[string]string{
		"a " + own + " b":                   "a [redacted: own-credential] b",
		"x=tavern-lantern;y=tavern-lantern": "x=[redacted: own-credential];y=[redacted: own-credential]",
		"short":                             "short",
		base64.StdEncoding.EncodeToString([]byte("x-access-token:tavern-lantern")): "[redacted: own-credential]",
		`"tavern-" + "lantern"`: "[redacted: own-credential]",
	} {
		if got := s.Redact(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := newScanner(t).Redact(own); got != own {
		t.Errorf("another scanner makes %q of it", got)
	}
}
