package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
)

// disguises are the forms in which a credential is written so that a person can read it.
func disguises(token string) map[string]string {
	each := func(format string) string {
		var s strings.Builder
		for _, c := range []byte(token) {
			fmt.Fprintf(&s, format, c)
		}
		return s.String()
	}
	shifted := func(by rune) string { return strings.Map(func(r rune) rune { return r + by }, token) }
	rot13 := func(s string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z':
				return 'a' + (r-'a'+13)%26
			case r >= 'A' && r <= 'Z':
				return 'A' + (r-'A'+13)%26
			}
			return r
		}, s)
	}
	reversed := []byte(token)
	slices.Reverse(reversed)
	encoded := base64.StdEncoding.EncodeToString([]byte(token))
	var mathematical strings.Builder
	for _, r := range token {
		switch {
		case r >= 'a' && r <= 'z':
			mathematical.WriteRune('𝐚' + r - 'a')
		case r >= 'A' && r <= 'Z':
			mathematical.WriteRune('𝐀' + r - 'A')
		case r >= '0' && r <= '9':
			mathematical.WriteRune('𝟎' + r - '0')
		default:
			mathematical.WriteRune(r)
		}
	}
	return map[string]string{
		"as it is": token, "base64": encoded, "base64 twice": base64.StdEncoding.EncodeToString([]byte(encoded)),
		"base64 for URLs": base64.URLEncoding.EncodeToString([]byte(token)), "hexadecimal": hex.EncodeToString([]byte(token)),
		"in the address of an image": "![a](https://a.example.test/?d=" + url.QueryEscape(token) + ")",
		"reversed":                   string(reversed), "ROT13": rot13(token), "split by spaces": strings.Join(strings.Split(token, ""), " "),
		"split by lines": token[:9] + "\n" + token[9:20] + "\n" + token[20:], "percent-encoded in part": strings.Replace(token, "g", "%67", 1),
		"an escape of C in part": strings.Replace(token, "g", `\x67`, 1), "a reference in part": strings.Replace(token, "h", "&#104;", 1),
		"escaped for Markdown": strings.Replace(token, "_", `\_`, 1), "full width": shifted('！' - '!'), "Cyrillic in part": strings.Replace(token, "p", "р", 1),
		"split by a space without width": token[:7] + "\u200b" + token[7:], "split by a joiner": token[:7] + "\u200d" + token[7:], "soft hyphens": token[:7] + "\u00ad" + token[7:],
		"percent-encoded": each("%%%02x"),
		// Beyond these twenty.
		"references": each("&#%d;"), "hexadecimal references": each("&#x%x;"), "escapes of JavaScript": each(`\u%04x`), "long escapes of JavaScript": each(`\u{%x}`), "octal escapes": each(`\%03o`),
		"emphasis in part": strings.Replace(token, "p_", "**p_**", 1), "a tag in part": strings.Replace(token, "p_", "<b>p_</b>", 1), "code in part": token[:10] + "`" + token[10:] + "`",
		"mathematical letters": mathematical.String(), "selectors of variations": token[:7] + "\ufe0f" + token[7:], "a mark of direction": token[:7] + "\u202e" + token[7:],
		"the name of a character": strings.Replace(token, "_", "&lowbar;", 1), "base64 behind an escape": strings.Replace(encoded, "Z", `\u005a`, 1),
	}
}

func TestACredentialIsFoundInEachDisguise(t *testing.T) {
	s := scanner(t)
	token := "ghp_" + secrettest.Chars(36, secrettest.Alnum)
	own := "tavern_lantern-Ship9Quiet7Harbor"
	for name := range disguises(token) {
		t.Run(name, func(t *testing.T) {
			if text := disguises(token)[name]; len(s.ScanText("See here:\n\n"+text+" and so on.\n")) == 0 {
				t.Errorf("nothing is found in %q", text)
			}
			if text := disguises(own)[name]; len(s.With(own).ScanText("See here:\n\n"+text+" and so on.\n")) == 0 {
				t.Errorf("of our own, nothing is found in %q", text)
			}
		})
	}
}

func TestAnEscapedCredentialOfAFileIsFoundAndItsLineRedacted(t *testing.T) {
	s := scanner(t)
	all := disguises("ghp_" + secrettest.Chars(36, secrettest.Alnum))
	for _, name := range []string{"percent-encoded in part", "an escape of C in part", "a reference in part", "full width", "Cyrillic in part", "split by a space without width", "octal escapes"} {
		text := "one\nkey = " + all[name] + "\nthree"
		if found := s.Scan(text); len(found) == 0 || found[0].Line != 2 {
			t.Errorf("%s: %v", name, found)
		}
		if got := s.Redact(text); !strings.HasPrefix(got, "one\n[redacted: ") || !strings.HasSuffix(got, "]\nthree") {
			t.Errorf("%s: redacted to %q", name, got)
		}
	}
}

func TestProseAboutCredentialsIsNone(t *testing.T) {
	s := scanner(t)
	for _, text := range []string{
		"The prefix ghp_ is that of personal access tokens of GitHub, and gho_ that of OAuth. They have 36 characters after it.",
		"AKIA begins the ids of keys. SEVEN LETTERS FOLLOW IT OR MORE", "Use `glpat-` for GitLab, xoxb- for Slack and\nsk-ant- for Anthropic.\n\n- one\n- two\n",
		"100%25 of it; R&amp;D; C:\\users\\name; \\d+\\.\\d+", "naïve, 日本語, Привет, мир: это текст", strings.Repeat("A sentence of some words, and one more. ", 200),
	} {
		if found := s.ScanText(text); len(found) > 0 {
			t.Errorf("%.60q: %v", text, found)
		}
	}
}

var _ = secret.Finding{}
