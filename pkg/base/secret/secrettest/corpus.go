// Package secrettest has credentials of many kinds for tests. None is anybody's.
package secrettest

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf16"
)

// Chars returns n characters that look random, of an alphabet.
func Chars(n int, alphabet string) string {
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

// Alphabets of Chars.
const (
	digits = "0123456789"
	Hexes  = "0123456789abcdef"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	Alnum  = upper + lower + digits
	base32 = upper + "234567"
)

// Corpus returns one text of each kind, by what it is. They are put together here so that no scanner takes this
// file for a leak.
func Corpus(t testing.TB) map[string]string {
	t.Helper()
	word := func(n int) string { return Chars(n, Alnum) }
	github := "gh" + "p_" + word(36)
	return map[string]string{
		"GitHub token, classic":                       github,
		"GitHub token, fine-grained":                  "github" + "_pat_" + word(22) + "_" + word(59),
		"GitHub token, of an App":                     "gh" + "s_" + word(36),
		"GitHub token, OAuth":                         "gh" + "o_" + word(36),
		"GitHub token, behind a name":                 "TOKEN_" + github,
		"GitLab token":                                "gl" + "pat-" + word(20),
		"AWS access key":                              "AK" + "IA" + Chars(16, upper+"234567"),
		"AWS access key after one that is an example": "AK" + "IAIOSFODNN7EXAMPLE AK" + "IA" + Chars(16, upper+"234567"),
		"AWS secret key":                              "aws_secret_access_key = " + Chars(40, Alnum+"/+"),
		"AWS secret key in JSON":                      `"SecretAccessKey": "` + Chars(40, Alnum+"/+") + `"`,
		"Anthropic key":                               "sk-" + "ant-api03-" + word(93) + "AA",
		"OpenAI key, of a project":                    "sk-" + "proj-" + word(48),
		"OpenAI key, old":                             "sk-" + word(48),
		"Slack token, of a bot":                       "xox" + "b-" + Chars(12, digits) + "-" + Chars(12, digits) + "-" + word(24),
		"Slack token, of an app": "xa" + "pp-1-A" + Chars(10, upper+digits) + "-" + Chars(13, digits) + "-" +
			Chars(64, Hexes),
		"Slack webhook": "https://hooks.slack.com/" + "services/T" + Chars(10, upper+digits) + "/B" +
			Chars(10, upper+digits) + "/" + word(24),
		"Google API key":        "AI" + "za" + word(35),
		"Google OAuth secret":   "GOC" + "SPX-" + word(28),
		"Stripe key, live":      "sk_" + "live_" + word(24),
		"Stripe key, test":      "sk_" + "test_" + word(24),
		"Stripe webhook secret": "wh" + "sec_" + word(32),
		"npm token":             "np" + "m_" + word(36),
		"npmrc":                 "//registry.example.test/:_auth" + "Token=" + word(36),
		"PyPI token":            "py" + "pi-AgEIcHlwaS5vcmc" + word(60),
		"Hugging Face token":    "hf" + "_" + Chars(34, upper+lower),
		"Docker token":          "dckr" + "_pat_" + word(27),
		"DigitalOcean token":    "dop" + "_v1_" + Chars(64, Hexes),
		"SendGrid key":          "SG" + "." + word(22) + "." + word(43),
		"Twilio key":            "SK" + Chars(32, Hexes),
		"Telegram token":        "telegram_bot_token = " + Chars(9, digits) + ":A" + word(34),
		"JSON web token":        "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + "J" + word(40) + "." + word(43),
		"Vault token":           "hvs" + "." + word(95),
		"Azure storage key":     "DefaultEndpointsProtocol=https;Account" + "Key=" + word(86) + "==",
		"Azure AD secret":       "client_secret = '" + word(3) + "8Q~" + word(34) + "'",
		"password in a URL":     "postgres://app:" + word(16) + "@db.example.test/app",
		"private key, PEM": "-----BEGIN RSA PRIVATE " + "KEY-----\n" + word(64) + "\n-----END RSA PRIVATE " +
			"KEY-----",
		"private key, only its header": "-----BEGIN OPENSSH PRIVATE " + "KEY-----",
		"private key, PuTTY":           "PuTTY-User-" + "Key-File-3: ssh-ed25519",
		"private key, age":             "AGE-SECRET-" + "KEY-1" + Chars(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
		"NATS seed":                    "S" + "U" + Chars(56, base32),
		"Grafana token":                "gl" + "sa_" + word(32) + "_" + Chars(8, Hexes),
		"Shopify token":                "shp" + "at_" + Chars(32, Hexes),
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
