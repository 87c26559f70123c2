package sanitize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Live is a place of a text on which a forge, a bot or a CI system would act, or that
// people would not see.
type Live struct {
	// Rule is mention, closes, command, skip, vouches, marker, html, image, link, hidden, code
	// or complex.
	Rule string
	At   int    // the offset in the text, in bytes
	Text string // the text that the rule matched, for a caller that permits some
}

// Says explains the rule of a live place to people.
func (l Live) Says() string { return says[l.Rule] }

var says = map[string]string{
	"mention": "it notifies people: write names without @",
	"closes":  "it closes an issue, or marks it as a duplicate",
	"command": "a line that is a command to a bot",
	"vouches": "it vouches for a person",
	"skip":    "it keeps the forge's checks from running, or sets a release",
	"marker":  "a comment that people do not see",
	"html":    "it has HTML, which may hide text or load images",
	"image":   "it loads an image",
	"link":    "a link does not show where it leads",
	"hidden":  "text that people do not see",
	"code":    "a backtick by which forges find code in different places",
	"complex": "it is too complex to be checked",
}

// rule finds one kind of live text in plain text: the subject and the body of a commit, a
// title, or the text that Markdown shows.
type rule struct {
	name    string
	pattern *lazyregexp.Regexp
	group   int // of the pattern: the part that is replaced
	with    func(part string) string
	except  *lazyregexp.Regexp // parts that are left alone; nil: none
}

// gap is white space between two words. The text that Markdown shows has a NUL where an
// element begins or ends.
const gap = `[\s\p{Z}\x00]+`

// issueRef matches a reference to an issue in the forms that forges know.
const issueRef = `(?:(?:[\w.\\-]+\\?/[\w.\\-]+|AB)?(\\?#)[\x00]?\w|\bGH(\\?-)\w|(https?\\?:\\?/\\?/[^\s\x00]*/)\d)`

// closers are the words by which forges close issues or relate them. GitHub has the first
// three, and the last; GitLab, Gitea and other trackers have the others, too.
const closers = `(?i)\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|complet(?:e[sd]?|ing)|finish(?:e[sd]|ing)?|deliver(?:s|ed|ing)?|reopen(?:s|ed|ing)?|duplicate` + gap + `of)(?:\\?:[\s\p{Z}\x00]*|` + gap + `)(?:issues?` + gap + `)?`

// ticket matches the keys of trackers other than the forge, such as Jira's and Linear's. standard are
// names of the same form.
const ticket = `((?-i:[A-Z][A-Z0-9]{1,9})\\?-[0-9])`

var standard = lazyregexp.New(`^(?:UTF|UCS|SHA|MD|ISO|RFC|CVE|CWE|AES|RSA|TLS|SSL|PEP|IEEE|IPV|CP|PR|GH)\\?-`)

// botWords are commands without a mark, by the bots that obey them.
var botWords = []string{
	`(?:bors|homu)[:,]?[ \t]+\S+`, // bors-ng, Rust's bors and homu
	`r\?[ \t]+\S+`,                // rustbot
	`lgtm[.!]?[ \t]*$`,            // Gitea's and others' approval
	`I have read the [^\n]{1,60} and I hereby sign [^\n]*`,               // CLA Assistant
	`(?:jenkins|buildkite|azp|rultor|renovate)[,:]?[ \t]+[a-z]\S*[^\n]*`, // by their names
	`(?:re)?test this(?: please)?[.!]?[ \t]*$`,                           // GitHub Pull Request Builder of Jenkins
	`ok to test[.!]?[ \t]*$`, `add to (?:white|allow)list[.!]?[ \t]*$`,
	`(?:recheck|reverify|retest|rebuild|rerun)(?:[ \t]+(?:please|all|failed|ci|tests?))?[.!]?[ \t]*$`, // Zuul and others
	`(?:rebase|rerun)!`, // Renovate
	`sweep:`,            // Sweep
}

// lineStart matches the beginning of a line, with the marks of lists and quotes.
const lineStart = `(?im)^[\s\p{Z}\x00>*+-]*(?:[0-9]{1,9}[.)])?[\s\p{Z}\x00>*+-]*`

// rules are all kinds, in the order in which they are looked for.
var rules = []rule{
	// Forges look for mentions after any character but those of a word. Some take _ for
	// one; in Markdown it shows nothing.
	{"mention", lazyregexp.New(`(?:^|[^0-9A-Za-z])(@)\x00*[0-9A-Za-z_]`), 1, func(at string) string { return at + " " }, nil},
	{"closes", lazyregexp.New(closers + issueRef), 1, func(hash string) string { return hash + " " }, nil},
	{"closes", lazyregexp.New(closers + issueRef), 2, func(string) string { return " " }, nil},
	{"closes", lazyregexp.New(closers + issueRef), 3, func(url string) string { return "– " + url }, nil},
	{"closes", lazyregexp.New(closers + ticket), 1, func(key string) string { return "– " + key }, standard},
	{"closes", lazyregexp.New(`\b[A-Z][A-Z0-9]{1,9}-[0-9]+\b[^\n]*?[\s\p{Z}](#)[a-z]`), 1, func(string) string { return "# " }, nil}, // a smart commit of Jira
	{"command", lazyregexp.New(lineStart + `([/!][A-Za-z](?:[\w./:-]*\w)?)`), 1, ticked, nil},
	{"command", lazyregexp.New(lineStart + `((?:` + strings.Join(botWords, "|") + `))`), 1, ticked, nil},
	// All brackets that hold the word skip: [skip ci], [ci skip], [skip netlify], [CI-Skip]. Also [no ci].
	{"skip", lazyregexp.New(`(?i)(\[[^\[\]\n]{0,40}\bskip\b[^\[\]\n]{0,40}\])`), 1, rounded, nil},
	{"skip", lazyregexp.New(`(?i)(\[[\s\p{Z}]*(?:no|skip|ci)[\s\p{Z}_-]*(?:ci|cd|build|deploy|tests?|actions|checks|skip)[\s\p{Z}]*\])`), 1, rounded, nil},
	{"skip", lazyregexp.New(`(?i)(\*{3}[\s_-]*(?:NO|SKIP)[\s_-]*CI[\s_-]*\*{3})`), 1, func(s string) string { return "(" + strings.Trim(s, "* ") + ")" }, nil},
	{"skip", lazyregexp.New(`(?i)(--(?:skip|no)-ci)\b`), 1, func(s string) string { return "(" + strings.TrimLeft(s, "-") + ")" }, nil},
	{"skip", lazyregexp.New(`(?im)^[\s\x00]*(?:skip-checks|release-as)\s*(:)`), 1, func(string) string { return " =" }, nil},
	{"skip", lazyregexp.New(`(?i)(\+semver[ \t]*:)`), 1, func(s string) string { return strings.Trim(s, "+:") + " =" }, nil},
	{"skip", lazyregexp.New(`(?i)(?:^|[\s\p{Z}])(#)(?:major|minor|patch)\b`), 1, func(string) string { return "# " }, nil},
	// Trailers of a commit in which a person takes responsibility. A forge makes commits of pull requests' texts, too.
	{"vouches", lazyregexp.New(`(?im)^(?:(?:signed-off|reviewed|acked|approved|tested|co-authored|co-developed|reported|suggested|helped)-by|on-behalf-of)[ \t]*(:)`),
		1, func(string) string { return " =" }, nil},
	// Signalbox names the brain of a commit so, by a policy. A brain is no person.
	{"vouches", lazyregexp.New(`(?im)^(assisted-by[ \t]*:[^\n]*)`), 1, func(s string) string { return strings.Replace(s, ":", " =", 1) }, assistedByBrain},
}

// assistedByBrain matches the trailer with a brain of Signalbox as its value: exec:PROGRAM or model:PROVIDER/NAME.
var assistedByBrain = lazyregexp.New(`^Assisted-by: (?:exec|model):[\w./@-]+$`)

// AssistedBy reports whether a commit's trailer "Assisted-by" may have this value: a brain, and no person.
func AssistedBy(brain string) bool { return assistedByBrain.MatchString("Assisted-by: " + brain) }

func ticked(s string) string {
	end := strings.TrimRight(s, " \t")
	return "`" + strings.ReplaceAll(end, "`", "'") + "`" + s[len(end):]
}

func rounded(s string) string { return "(" + strings.Trim(s, "[]") + ")" }

// span is a part of a text, in bytes.
type span struct{ from, to int }

// matches returns the parts of s that the rule replaces. Of matches that share characters
// it returns the first: the next round finds the others.
func (r rule) matches(s string) (all []span) {
	for _, m := range r.pattern.FindAllStringSubmatchIndex(s, -1) {
		if from := m[2*r.group]; from >= 0 && (r.except == nil || !r.except.MatchString(s[from:m[2*r.group+1]])) {
			all = append(all, span{from, m[2*r.group+1]})
		}
	}
	return all
}

// edit replaces a part of a text, and says by which rule.
type edit struct {
	rule string // empty: the part is not live, but may be in another place
	span
	with string
}

// apply makes edits that do not overlap. Of two that do, or that begin at the same byte, it
// makes the first.
func apply(s string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	at, last := 0, -1
	for _, e := range edits {
		if e.from < at || e.from == last || e.from == e.to && e.with == "" {
			continue
		}
		last = e.from
		out.WriteString(s[at:e.from])
		out.WriteString(e.with)
		at = e.to
	}
	out.WriteString(s[at:])
	return out.String()
}

// maxToken is how far back the beginning of an address is looked for, in bytes.
const maxToken = 300

// inURL reports whether the byte at an offset is in the address of a page.
func inURL(s string, at int) bool {
	token := s[max(0, at-maxToken):at]
	if i := strings.LastIndexAny(token, " \t\n<>()[]\"'`\x00\x01"); i >= 0 {
		token = token[i+1:]
	}
	return strings.Contains(token, "://")
}

// replacement returns the text that makes a part harmless. An @ of an address stays in it,
// as its code.
func (r rule) replacement(s string, at span) string {
	if r.name == "mention" && inURL(s, at.from) {
		return "%40"
	}
	return r.with(s[at.from:at.to])
}

// FirstHidden returns where the first character of s is that shows nothing or
// turns the text around, -1 if there is none. Ends of lines are not counted.
func FirstHidden(s string) int {
	var before rune
	return strings.IndexFunc(s, func(r rune) bool {
		is := hidden(before, r)
		before = r
		return is
	})
}

// FirstTurning returns where the first character of s is that changes the direction of what
// follows, so that code reads otherwise than it runs. It returns -1 if there is none. Marks
// of direction that right-to-left text needs are not meant.
func FirstTurning(s string) int {
	return strings.IndexFunc(s, func(r rune) bool {
		return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r >= 0xe0000 && r <= 0xe0fff
	})
}

// formerly matches the places where earlier versions put a space without width. Commits of
// that time are in bundles that are still to be pushed.
var formerly = lazyregexp.New(`([@#/-])\x{200b}`)

// WithoutFormer returns a commit's message without the spaces that earlier versions put
// into it. Where they stood nothing is live.
func WithoutFormer(s string) string { return formerly.ReplaceAllString(s, "$1 ") }
