// Package secret finds credentials in text, so that they are neither sent nor
// stored.
//
// The rules are those of gitleaks, which are kept up to date by its project,
// without the one for "generic" keys: it guesses by entropy, and what it turns
// down is mostly test data. This package adds the kinds that gitleaks does not
// know (see own.go), and the encodings that hide a kind that it knows.
package secret

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// Finding is one credential in a text. It never has the credential itself.
type Finding struct {
	Rule string // "github-pat"
	What string // "a github pat", for people
	Line int    // in the text, from 1
}

// String returns what was found and where.
func (f Finding) String() string {
	return fmt.Sprintf("line %d: looks like %s (%s)", f.Line, f.What, f.Rule)
}

// Scanner finds credentials. It is safe for concurrent use, and expensive to
// make: 240 regular expressions.
type Scanner struct{ detector *detect.Detector }

// decodeDepth is how many encodings may lie over each other: base64, hex and
// percent-encoding.
const decodeDepth = 3

// New returns a scanner. Its error means that the rules of the build are broken.
func New() (*Scanner, error) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return nil, fmt.Errorf("read the rules for secrets: %w", err)
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		return nil, fmt.Errorf("read the rules for secrets: %w", err)
	}
	cfg, err := raw.Translate()
	if err != nil {
		return nil, fmt.Errorf("read the rules for secrets: %w", err)
	}
	delete(cfg.Rules, "generic-api-key")
	for _, r := range own() {
		for _, list := range r.Allowlists {
			if err := list.Validate(); err != nil {
				return nil, fmt.Errorf("read the rules for secrets: %s: %w", r.RuleID, err)
			}
		}
		cfg.Rules[r.RuleID] = r
		for _, keyword := range r.Keywords {
			cfg.Keywords[strings.ToLower(keyword)] = struct{}{}
		}
	}
	cfg.Allowlists = nil // by path: what a change does not show is not what it may send
	d := detect.NewDetector(cfg)
	d.IgnoreGitleaksAllow = true // a comment in the text that is judged
	d.MaxDecodeDepth = decodeDepth
	return &Scanner{d}, nil
}

// Scan returns the credentials in text, in the order of their lines, each kind
// once a line.
func (s *Scanner) Scan(text string) []Finding {
	seen := map[Finding]bool{}
	var found []Finding
	for _, m := range s.matches(text) {
		f := Finding{Rule: m.rule, What: m.what, Line: m.line}
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
	// The longest first: one credential may be a part of another.
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(len(b.secret), len(a.secret)) })
	lines := strings.Split(text, "\n")
	for _, m := range found {
		mark := "[redacted: " + m.rule + "]"
		if m.hidden {
			for i := m.line - 1; i < min(m.end, len(lines)); i++ {
				lines[i] = mark
			}
		}
	}
	text = strings.Join(lines, "\n")
	for _, m := range found {
		if !m.hidden {
			text = strings.ReplaceAll(text, m.secret, "[redacted: "+m.rule+"]")
		}
	}
	return text
}

// match is one credential and where it is.
type match struct {
	rule, what string
	secret     string
	line, end  int  // first and last, from 1
	hidden     bool // the text has it encoded or split
}

func (s *Scanner) matches(text string) []match {
	var all []match
	for _, v := range views(text) {
		for _, f := range s.detector.DetectString(v.text) {
			m := match{rule: f.RuleID, what: what(f.RuleID), secret: f.Secret, hidden: v.changed || len(f.Tags) > 0}
			m.line, m.end = v.lines(f.StartLine, f.EndLine)
			all = append(all, m)
		}
	}
	return all
}

// what names a rule for people: "a github pat".
func what(rule string) string {
	name := strings.ReplaceAll(rule, "-", " ")
	if strings.ContainsAny(name[:1], "aeiou") {
		return "an " + name
	}
	return "a " + name
}
