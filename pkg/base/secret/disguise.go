package secret

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// escapes matches what a renderer, a browser or a compiler replaces by a character:
// references of HTML, percent-encoding, escapes of the common languages and of Markdown.
var escapes = lazyregexp.New(`&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});|%[0-9A-Fa-f]{2}|` +
	`\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}|\\[0-3][0-7]{2}|\\[!-/:-@\[-` + "`" + `{-~]`)

// undisguise returns a text as a reader sees it, with the same lines: escapes are replaced,
// characters that do not show are left out, and letters that look like those of ASCII are
// those. ok is false if nothing changes.
func undisguise(text string) (shown string, ok bool) {
	shown = text
	if strings.ContainsAny(shown, `\&%`) {
		shown = escapes.ReplaceAllStringFunc(shown, unescape)
	}
	if strings.ContainsFunc(shown, func(r rune) bool { return r >= utf8.RuneSelf }) {
		shown = strings.Map(fold, shown)
	}
	return shown, shown != text
}

func unescape(s string) string {
	var digits string
	base := 16
	switch {
	case s[0] == '&':
		return oneLine(html.UnescapeString(s))
	case s[0] == '%':
		digits = s[1:]
	case s[1] == 'x' || s[1] == 'u' || s[1] == 'U':
		digits = strings.Trim(s[2:], "{}")
	case s[1] >= '0' && s[1] <= '9':
		digits, base = s[1:], 8
	default:
		return s[1:]
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || code > unicode.MaxRune {
		return s
	}
	if code >= utf8.RuneSelf && s[0] == '%' {
		return s // a byte of a longer character
	}
	return oneLine(string(rune(code)))
}

// fold returns the character of ASCII that a character looks like, and -1 for one that does
// not show.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case unicode.Is(unicode.Cf, r), r >= '\ufe00' && r <= '\ufe0f', r == '\u034f', r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u2800':
		return -1
	case r >= '！' && r <= '～': // full width
		return r - '！' + '!'
	case r >= '𝐀' && r <= '𝚣': // mathematical alphabets
		i := (r - '𝐀') % 52
		if i < 26 {
			return 'A' + i
		}
		return 'a' + i - 26
	case r >= '𝟎' && r <= '𝟿':
		return '0' + (r-'𝟎')%10
	case r >= 'Ⓐ' && r <= 'Ⓩ':
		return r - 'Ⓐ' + 'A'
	case r >= 'ⓐ' && r <= 'ⓩ':
		return r - 'ⓐ' + 'a'
	}
	if i := strings.IndexRune(alike, r); i >= 0 {
		return rune(looks[utf8.RuneCountInString(alike[:i])])
	}
	return r
}

// Each letter of alike, Cyrillic, Greek and Latin, looks as the one of looks in its place.
const (
	alike = "аАвВсСԁеЕɡһНіІјЈкКӏмМоОрРԛѕЅТтихХуУԝѡɑαΑΒϲΕΗιΙΚκΜνΝοΟρΡΤυΥΧχγΖ‗＿﹍﹎‐‑‒–—−"
	looks = "aAbBcCdeEghHiIjJkKlmMoOpPqsSTtuxXyYwwaaABcEHiIKkMvNoOpPTuYXxyZ____------"
)

// reading is a text as instructions could have a person read it.
type reading struct {
	view
	digits int // that a credential in it must have, for prose has none
}

var markup = lazyregexp.New("<[^<>\n]{0,200}>|[*`~]+")

// readings returns the text without spaces, without markup, reversed and in ROT13. Those
// that would be the same are left out.
func readings(text string) (all []reading) {
	if shown, ok := undisguise(text); ok {
		text = shown
	}
	whole := []int{1, strings.Count(text, "\n") + 2} // lines, of a view that has one
	if plain := markup.ReplaceAllString(text, ""); plain != text {
		all = append(all, reading{view{text: plain, changed: true}, 0})
	}
	closed := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	all = append(all, reading{view{text: closed, changed: true, from: whole}, 3})
	all = append(all, reading{view{text: strings.Map(rot13, text), changed: true}, 0})
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		letters := []rune(line)
		slices.Reverse(letters)
		lines[i] = string(letters)
	}
	return append(all, reading{view{text: strings.Join(lines, "\n"), changed: true}, 0})
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}
