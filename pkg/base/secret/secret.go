// Package secret finds credentials in text, so that they are neither sent nor
// stored.
//
// Most of its rules are those of gitleaks, as data: rules.json, which `make
// secret-rules` regenerates. It adds the kinds that gitleaks has no rule for
// (own.json), and looks behind what hides a credential: base64, hexadecimal and
// percent-encoding, split literals, UTF-16.
package secret

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Finding is one credential in a text. It never has the credential itself.
type Finding struct {
	Rule string // "github-pat"
	Line int    // in the text, from 1
}

// String returns what was found and where.
func (f Finding) String() string {
	return fmt.Sprintf("line %d: %s", f.Line, f.What())
}

// What returns the kind of the finding, for people.
func (f Finding) What() string { return "a likely credential (" + f.Rule + ")" }

// Scanner finds credentials. It is safe for concurrent use.
type Scanner struct {
	rules    []rule
	keywords *keywords
	own      []string // credentials that are known by value
	issued   *Issued  // more of them; nil: none
}

// New returns a scanner. Its error means that the rules of the build are broken.
func New() (*Scanner, error) {
	rules, err := shipped()
	if err != nil {
		return nil, fmt.Errorf("rules for secrets: %w", err)
	}
	return &Scanner{rules: rules, keywords: newKeywords(rules)}, nil
}

// minOwn is the length of the shortest credential that is looked for by value.
// Shorter ones are words.
const minOwn = 8

// With returns a scanner that also finds these credentials, however they look.
// Short ones and empty ones are left out.
func (s *Scanner) With(credentials ...string) *Scanner {
	more := *s
	more.own = slices.Clip(more.own)
	for _, c := range credentials {
		if c = strings.TrimSpace(c); len(c) >= minOwn && !slices.Contains(more.own, c) {
			more.own = append(more.own, c)
		}
	}
	return &more
}

// Scan returns the credentials in text, in the order of their lines, each kind
// once a line.
func (s *Scanner) Scan(text string) []Finding { return findings(s.matches(text)) }

// ScanText returns the credentials in a text that people read, as Scan does. It also looks
// behind spaces between the characters, marks of emphasis and tags, reversed text and ROT13.
// There it finds the kinds that begin with a word of their own, and credentials that are
// known by value.
func (s *Scanner) ScanText(text string) []Finding {
	found := s.matches(text)
	known := map[string]bool{}
	for _, m := range found {
		known[m.secret] = true
	}
	for _, v := range readings(text) {
		for _, m := range s.in(v.view, known) {
			if m.rule == ownCredential || s.named(m, v.digits) {
				found = append(found, m)
			}
		}
	}
	return findings(found)
}

// named reports whether a credential begins with a keyword of its rule, and has as many
// digits, so that it is no prose.
func (s *Scanner) named(m match, digits int) bool {
	n := 0
	for _, c := range m.secret {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	i := slices.IndexFunc(s.rules, func(r rule) bool { return r.ID == m.rule })
	return n >= digits && i >= 0 && slices.ContainsFunc(s.rules[i].Keywords, func(word string) bool {
		return len(word) >= 3 && strings.HasPrefix(strings.ToLower(m.secret), word)
	})
}

func findings(all []match) (found []Finding) {
	seen := map[Finding]bool{}
	for _, m := range all {
		f := Finding{m.rule, m.first}
		if !seen[f] {
			seen[f] = true
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return found
}

// Redact returns text with each credential replaced by "[redacted: RULE]". A
// line with one that is encoded or split is replaced as a whole.
func (s *Scanner) Redact(text string) string {
	found := s.matches(text)
	if len(found) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for _, m := range found {
		if m.hidden {
			for i := m.first - 1; i < m.last; i++ {
				lines[i] = mark(m.rule)
			}
		}
	}
	text = strings.Join(lines, "\n")
	// The longest first: one credential may be a part of another.
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(len(b.secret), len(a.secret)) })
	for _, m := range found {
		if !m.hidden {
			text = strings.ReplaceAll(text, m.secret, mark(m.rule))
		}
	}
	return text
}

func mark(rule string) string { return "[redacted: " + rule + "]" }

// match is one credential and where it is.
type match struct {
	rule        string
	secret      string
	first, last int  // lines, from 1
	hidden      bool // the text has it encoded or split
}

// ownCredential is the rule of credentials that are known by value.
const ownCredential = "own-credential"

// matches returns each credential once: what one rule found is not reported by
// a second, nor what stands in the text again as decoded.
func (s *Scanner) matches(text string) (all []match) {
	known := map[string]bool{}
	for _, v := range views(text) {
		all = append(all, s.in(v, known)...)
	}
	return all
}

// in returns the credentials of one view that are not known yet, and notes them.
func (s *Scanner) in(v view, known map[string]bool) (all []match) {
	var taken []span
	add := func(rule string, at span) {
		if v.changed && known[v.text[at.from:at.to]] {
			return
		}
		i := slices.IndexFunc(taken, at.overlaps)
		if i < 0 {
			i, taken, all = len(all), append(taken, at), append(all, match{rule: rule, hidden: v.changed})
		}
		at = span{min(at.from, taken[i].from), max(at.to, taken[i].to)} // two rules may know a part each
		taken[i] = at
		all[i].secret = v.text[at.from:at.to]
		all[i].first, all[i].last = v.lines(at.from, at.to)
		known[all[i].secret] = true
	}
	for _, credential := range slices.Concat(s.own, s.issued.list()) {
		for from := 0; ; {
			i := strings.Index(v.text[from:], credential)
			if i < 0 {
				break
			}
			add(ownCredential, span{from + i, from + i + len(credential)})
			from += i + len(credential)
		}
	}
	may, any := s.keywords.find(strings.ToLower(v.text))
	for i := 0; any && i < len(s.rules); i++ {
		if !may[i] {
			continue
		}
		for _, at := range s.rules[i].find(v.text) {
			add(s.rules[i].ID, at)
		}
	}
	return all
}
