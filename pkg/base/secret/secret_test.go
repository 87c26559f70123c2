package secret_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
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

func TestAPrivateKeyIsRedactedWithItsBody(t *testing.T) {
	const begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
	var body []string
	for range 20 {
		body = append(body, secrettest.Chars(64, secrettest.Alnum))
	}
	lines := strings.Join(body, "\n")
	numbered := begin
	for i, line := range body {
		numbered += fmt.Sprintf("\n%6d→%s", i+2, line)
	}
	for name, text := range map[string]string{
		"whole":                  begin + "\n" + lines + "\n" + end,
		"encrypted":              begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0011\n\n" + lines + "\n" + end,
		"cut off at its end":     begin + "\n" + lines,
		"cut off at its start":   lines + "\n" + end,
		"of one line, cut off":   begin + " " + lines[:64],
		"in JSON, cut off":       `{"key":"` + begin + `\n` + strings.Join(body, `\n`),
		"in YAML":                "key: |\n  " + begin + "\n  " + strings.Join(body, "\n  ") + "\n  " + end,
		"with numbers, cut off":  numbered,
		"in a patch, cut off":    "+" + begin + "\n+" + strings.Join(body, "\n+"),
		"in a source, cut off":   `"` + begin + `\n" +` + "\n\t\"" + strings.Join(body, "\\n\" +\n\t\""),
		"in a comment":           "# " + begin + "\n# " + strings.Join(body, "\n# ") + "\n# " + end,
		"in a comment, cut off":  "# " + begin + "\n# " + strings.Join(body, "\n# "),
		"with carriage returns":  begin + "\r\n" + strings.Join(body, "\r\n") + "\r\n" + end,
		"of SSH2":                "---- BEGIN SSH2 ENCRYPTED PRIVATE " + "KEY ----\nComment: \"mine\"\n" + lines + "\n---- END SSH2 ENCRYPTED PRIVATE " + "KEY ----",
		"of PGP":                 "-----BEGIN PGP PRIVATE " + "KEY BLOCK-----\nVersion: GnuPG v2\n\n" + lines + "\n=abcd\n-----END PGP PRIVATE " + "KEY BLOCK-----",
		"of PuTTY":               "PuTTY-User-" + "Key-File-3: ssh-rsa\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 20\n" + lines + "\nPrivate-MAC: 00ff",
		"of PuTTY, cut off":      "PuTTY-User-" + "Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 20\n" + lines,
		"of PuTTY, without head": "Private-Lines: 20\n" + lines,
	} {
		got := scanner(t).Redact("before\n" + text + "\nand after\n")
		if !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "\nand after\n") {
			t.Errorf("%s: too much is gone: %q", name, got)
		}
		for _, line := range body {
			if strings.Contains(got, line[:16]) {
				t.Errorf("%s: it is there: %q", name, got)
				break
			}
		}
	}
}

func TestTwoRulesThatKnowAPartEachRemoveBoth(t *testing.T) {
	const known = "hunter2-hunter2"
	if got := scanner(t).With(known).Redact("postgres://app:" + known + "A9x2Lq8Zr4@db.example.test/app"); strings.Contains(got, "A9x2") || strings.Count(got, "[redacted") != 1 {
		t.Error(got)
	}
}

func TestNoLongPartOfACredentialIsLeft(t *testing.T) {
	run := regexp.MustCompile(`[A-Za-z0-9+/]{20,}`)
	for name, text := range secrettest.Corpus(t) {
		got := scanner(t).Redact("here: " + text + "\n")
		for _, part := range run.FindAllString(text, -1) {
			known := part == "DefaultEndpointsProtocol" || strings.HasSuffix(part, "EXAMPLE") // and no secret
			if strings.Contains(got, part) && !known {
				t.Errorf("%s: %q is left in %q", name, part, got)
			}
		}
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
