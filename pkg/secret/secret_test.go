package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/signalbox/signalbox/pkg/secret"
)

// chars is n characters that look random, of an alphabet.
func chars(n int, alphabet string) string {
	var b strings.Builder
	state := uint32(2463534242)
	for range n {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		b.WriteByte(alphabet[state%uint32(len(alphabet))])
	}
	return b.String()
}

const (
	digits = "0123456789"
	hexes  = "0123456789abcdef"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = upper + lower + digits
	base32 = upper + "234567"
)

// corpus is one of each kind, put together here so that no scanner takes this
// file for a leak.
func corpus() map[string]string {
	word := func(n int) string { return chars(n, alnum) }
	github := "gh" + "p_" + word(36)
	return map[string]string{
		"GitHub token, classic":                       github,
		"GitHub token, fine-grained":                  "github" + "_pat_" + word(22) + "_" + word(59),
		"GitHub token, of an App":                     "gh" + "s_" + word(36),
		"GitHub token, OAuth":                         "gh" + "o_" + word(36),
		"GitHub token, behind a name":                 "TOKEN_" + github,
		"GitLab token":                                "gl" + "pat-" + word(20),
		"AWS access key":                              "AK" + "IA" + chars(16, upper+"234567"),
		"AWS access key after one that is an example": "AK" + "IAIOSFODNN7EXAMPLE AK" + "IA" + chars(16, upper+"234567"),
		"AWS secret key":                              "aws_secret_access_key = " + chars(40, alnum+"/+"),
		"AWS secret key in JSON":                      `"SecretAccessKey": "` + chars(40, alnum+"/+") + `"`,
		"Anthropic key":                               "sk-" + "ant-api03-" + word(93) + "AA",
		"OpenAI key, of a project":                    "sk-" + "proj-" + word(48),
		"OpenAI key, old":                             "sk-" + word(48),
		"Slack token, of a bot":                       "xox" + "b-" + chars(12, digits) + "-" + chars(12, digits) + "-" + word(24),
		"Slack token, of an app": "xa" + "pp-1-A" + chars(10, upper+digits) + "-" + chars(13, digits) + "-" +
			chars(64, hexes),
		"Slack webhook": "https://hooks.slack.com/" + "services/T" + chars(10, upper+digits) + "/B" +
			chars(10, upper+digits) + "/" + word(24),
		"Google API key":        "AI" + "za" + word(35),
		"Google OAuth secret":   "GOC" + "SPX-" + word(28),
		"Stripe key, live":      "sk_" + "live_" + word(24),
		"Stripe key, test":      "sk_" + "test_" + word(24),
		"Stripe webhook secret": "wh" + "sec_" + word(32),
		"npm token":             "np" + "m_" + word(36),
		"npmrc":                 "//registry.example.test/:_auth" + "Token=" + word(36),
		"PyPI token":            "py" + "pi-AgEIcHlwaS5vcmc" + word(60),
		"Hugging Face token":    "hf" + "_" + chars(34, upper+lower),
		"Docker token":          "dckr" + "_pat_" + word(27),
		"DigitalOcean token":    "dop" + "_v1_" + chars(64, hexes),
		"SendGrid key":          "SG" + "." + word(22) + "." + word(43),
		"Twilio key":            "SK" + chars(32, hexes),
		"Telegram token":        "telegram_bot_token = " + chars(9, digits) + ":A" + word(34),
		"JSON web token":        "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + "J" + word(40) + "." + word(43),
		"Vault token":           "hvs" + "." + word(95),
		"Azure storage key":     "DefaultEndpointsProtocol=https;Account" + "Key=" + word(86) + "==",
		"Azure AD secret":       "client_secret = '" + word(3) + "8Q~" + word(34) + "'",
		"password in a URL":     "postgres://app:" + word(16) + "@db.example.test/app",
		"private key, PEM": "-----BEGIN RSA PRIVATE " + "KEY-----\n" + word(64) + "\n-----END RSA PRIVATE " +
			"KEY-----",
		"private key, only its header": "-----BEGIN OPENSSH PRIVATE " + "KEY-----",
		"private key, PuTTY":           "PuTTY-User-" + "Key-File-3: ssh-ed25519",
		"private key, age":             "AGE-SECRET-" + "KEY-1" + chars(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
		"NATS seed":                    "S" + "U" + chars(56, base32),
		"Grafana token":                "gl" + "sa_" + word(32) + "_" + chars(8, hexes),
		"Shopify token":                "shp" + "at_" + chars(32, hexes),
		"Linear key":                   "lin" + "_api_" + word(40),
		"in base64":                    base64.StdEncoding.EncodeToString([]byte("token=" + github + "\n")),
		"in base64 twice":              base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("token=" + github + "\n")))),
		"in hex":                       hex.EncodeToString([]byte("token=" + github + "\n")),
		"split in a source":            `token := "` + github[:9] + `" + "` + github[9:] + `"`,
		"split over lines":             "token = '" + github[:9] + "' \\\n    '" + github[9:] + "'",
		"in UTF-16":                    wide("token = " + github),
	}
}

func wide(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

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
	for name, text := range corpus() {
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
		"git@github.com:acme/widgets.git", "postgres://app:$PASSWORD@db/app", "http://user:***@host/", "sha256:" + chars(64, hexes),
		"commit " + chars(40, hexes),
		"func (s *Scanner) Scan(text string) []Finding", "h1:" + chars(43, alnum) + "=", `integrity "sha512-` + chars(86, alnum) + `=="`,
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
	for _, text := range corpus() {
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
