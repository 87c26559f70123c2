package secret

import (
	"encoding/base64"
	"encoding/hex"
	"iter"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// view is a text as it is scanned: as it stands, or with what hides a
// credential taken out.
type view struct {
	text    string
	changed bool
	from    []int // the line of the text, from 1, at which each line of the view begins; nil: the same
}

// decodeDepth is how many encodings may lie over each other.
const decodeDepth = 3

// views returns what is scanned of a text. Views that would be the same are left out.
func views(text string) []view {
	all := []view{{text: text}}
	if plain := strings.ReplaceAll(text, "\x00", ""); plain != text { // UTF-16 of ASCII
		all = append(all, view{text: plain, changed: true})
	}
	if joined, ok := join(text); ok {
		all = append(all, joined)
	}
	if shown, ok := undisguise(text); ok {
		all = append(all, view{text: shown, changed: true})
		text = shown
	}
	for decoded, ok := decode(text); ok && len(all) < decodeDepth+4; decoded, ok = decode(decoded) {
		all = append(all, view{text: decoded, changed: true})
	}
	return all
}

// lines returns the first and the last line of the text, from 1, that bytes of
// the view came from.
func (v view) lines(from, to int) (first, last int) {
	first = strings.Count(v.text[:from], "\n")
	last = first + strings.Count(v.text[from:max(from, to-1)], "\n")
	if v.from == nil {
		return first + 1, last + 1
	}
	if end := last + 1; end < len(v.from) {
		return v.from[first], v.from[end] - 1
	}
	return v.from[first], v.from[len(v.from)-1]
}

// seam is what stands between the parts of a literal in the common languages:
// "ab" + "cd", 'ab' . 'cd', "ab" "cd", also over several lines.
var seam = lazyregexp.New("\"[\\s\\\\]*[+.&]?[\\s\\\\]*\"|'[\\s\\\\]*[+.&]?[\\s\\\\]*'|`\\s*\\+\\s*`|\\\\\r?\n\\s*")

// join takes the seams out of split literals; ok is false if there are none.
func join(text string) (v view, ok bool) {
	seams := seam.FindAllStringIndex(text, -1)
	if len(seams) == 0 {
		return view{}, false
	}
	var out strings.Builder
	lines, line, at := []int{1}, 1, 0
	keep := func(part string) {
		out.WriteString(part)
		for range strings.Count(part, "\n") {
			line++
			lines = append(lines, line)
		}
	}
	for _, s := range seams {
		keep(text[at:s[0]])
		line += strings.Count(text[s[0]:s[1]], "\n")
		at = s[1]
	}
	keep(text[at:])
	return view{out.String(), true, append(lines, line+1)}, true // the last is where the text ends
}

var percents = lazyregexp.New(`[^\s%]*(?:%[0-9A-Fa-f]{2}[^\s%]*){3,}`)

// decode replaces what is encoded by what it encodes; ok is false if nothing is.
func decode(text string) (decoded string, ok bool) {
	if strings.Contains(text, "%") {
		text = percents.ReplaceAllStringFunc(text, func(s string) string {
			plain, err := url.PathUnescape(s)
			if err != nil || !readable(plain) {
				return s
			}
			ok = true
			return oneLine(plain)
		})
	}
	var out strings.Builder
	at := 0
	for run := range runs(text) {
		if plain, encoded := decodeRun(text[run.from:run.to]); encoded {
			ok = true
			out.WriteString(text[at:run.from])
			out.WriteString(oneLine(plain))
			at = run.to
		}
	}
	out.WriteString(text[at:])
	return out.String(), ok
}

// minRun is the length of the shortest encoded text that is decoded, in bytes.
const minRun = 20

// runs gives the runs of characters of base64, which hexadecimal ones are as well.
func runs(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		from := 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && encodes(text[i]) {
				continue
			}
			if i-from >= minRun && !yield(span{from, i}) {
				return
			}
			from = i + 1
		}
	}
}

func encodes(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// decodeRun decodes hexadecimal or base64; ok is false if it is none, or none of a text.
func decodeRun(s string) (plain string, ok bool) {
	if b, err := hex.DecodeString(s); err == nil && readable(string(b)) {
		return string(b), true
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		encoding = base64.RawURLEncoding
	}
	b, err := encoding.DecodeString(s)
	return string(b), err == nil && readable(string(b))
}

// oneLine keeps what was decoded on its line.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// readable reports whether a text is one: most of what looks encoded is not.
func readable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			return false
		}
	}
	return true
}
