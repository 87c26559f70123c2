// Package secret finds credentials in text, so that they are neither sent nor
// stored.
//
// Most of its rules are those of gitleaks, as data: rules.json, which `make
// secret-rules` makes anew. It adds the kinds that gitleaks has no rule for
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

// What returns what the text has, for people.
func (f Finding) What() string { return "what looks like a credential (" + f.Rule + ")" }

// Scanner finds credentials. It is safe for concurrent use, and expensive to
// make: 230 regular expressions.
type Scanner struct{ rules []rule }

// New returns a scanner. Its error means that the rules of the build are broken.
func New() (*Scanner, error) {
	rules, err := load()
	if err != nil {
		return nil, fmt.Errorf("rules for secrets: %w", err)
	}
	return &Scanner{rules}, nil
}

// Scan returns the credentials in text, in the order of their lines, each kind
// once a line.
func (s *Scanner) Scan(text string) []Finding {
	seen := map[Finding]bool{}
	var found []Finding
	for _, m := range s.matches(text) {
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

// matches returns each credential once: what one rule found is not reported by
// a second, nor what stands in the text again as decoded.
func (s *Scanner) matches(text string) []match {
	var all []match
	known := map[string]bool{}
	for _, v := range views(text) {
		var taken []span
		lower := strings.ToLower(v.text)
		for _, r := range s.rules {
			if !r.mayMatch(lower) {
				continue
			}
			for _, at := range r.find(v.text) {
				secret := v.text[at.from:at.to]
				if v.changed && known[secret] || slices.ContainsFunc(taken, at.overlaps) {
					continue
				}
				known[secret], taken = true, append(taken, at)
				first, last := v.lines(at.from, at.to)
				all = append(all, match{r.ID, secret, first, last, v.changed})
			}
		}
	}
	return all
}
