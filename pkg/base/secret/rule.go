package secret

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

//go:embed rules.json
var gitleaks []byte

//go:embed own.json
var own []byte

// rule finds one kind of credential. Its fields mean what gitleaks means by them.
type rule struct {
	ID          string      `json:"id"`
	Regex       pattern     `json:"regex"`
	SecretGroup int         `json:"secret_group"` // of the regex; 0: the first group that is not empty, or all
	Entropy     float64     `json:"entropy"`      // bits a character that the credential has to have more of
	Keywords    []string    `json:"keywords"`     // in lower case; a text with none of them has no match
	Allowlists  []allowlist `json:"allowlists"`
}

// allowlist matches texts that look like a credential and are none.
type allowlist struct {
	All       bool      `json:"all"`    // all checks have to hold, not one
	Target    string    `json:"target"` // of the regexes: "" the credential, "match" or "line"
	Regexes   []pattern `json:"regexes"`
	StopWords []string  `json:"stop_words"` // in the credential, in lower case
}

// pattern is the regular expression of a rule. Most rules are never used, so most expressions are
// never compiled.
type pattern struct{ *lazyregexp.Regexp }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *pattern) UnmarshalText(text []byte) error {
	p.Regexp = lazyregexp.New(string(text)) // a test compiles all
	return nil
}

// shipped returns the rules, which are read once a process. Nothing changes them.
var shipped = sync.OnceValues(load)

func load() ([]rule, error) {
	var all []rule
	for _, data := range [][]byte{own, gitleaks} { // of two that match, the first names it
		var file struct {
			Source string
			Rules  []rule
		}
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", cmp.Or(file.Source, "own.json"), err)
		}
		all = append(all, file.Rules...)
	}
	return all, nil
}

// span is a piece of a text, in bytes.
type span struct{ from, to int }

func (s span) overlaps(o span) bool { return s.from < o.to && o.from < s.to }

// find returns where the credentials of the kind are.
func (r rule) find(text string) []span {
	var found []span
	for _, groups := range r.Regex.FindAllStringSubmatchIndex(text, -1) {
		at := r.secret(groups)
		secret := text[at.from:at.to]
		if r.Entropy > 0 && entropy(secret) <= r.Entropy {
			continue
		}
		if !slices.ContainsFunc(r.Allowlists, func(a allowlist) bool { return a.allows(text, span{groups[0], groups[1]}, secret) }) {
			found = append(found, at)
		}
	}
	return found
}

// secret picks the credential of a match.
func (r rule) secret(groups []int) span {
	if i := 2 * r.SecretGroup; i > 0 && i < len(groups) && groups[i] >= 0 {
		return span{groups[i], groups[i+1]}
	}
	for i := 2; i < len(groups); i += 2 {
		if groups[i] >= 0 && groups[i] < groups[i+1] {
			return span{groups[i], groups[i+1]}
		}
	}
	return span{groups[0], groups[1]}
}

// allows reports whether a match is no credential.
func (a allowlist) allows(text string, match span, secret string) bool {
	target := secret
	switch a.Target {
	case "match":
		target = text[match.from:match.to]
	case "line":
		target = lineOf(text, match)
	}
	lower := strings.ToLower(secret)
	var checks []bool
	if len(a.Regexes) > 0 {
		checks = append(checks, slices.ContainsFunc(a.Regexes, func(p pattern) bool { return p.MatchString(target) }))
	}
	if len(a.StopWords) > 0 {
		checks = append(checks, slices.ContainsFunc(a.StopWords, func(w string) bool { return strings.Contains(lower, strings.ToLower(w)) }))
	}
	if a.All {
		return len(checks) > 0 && !slices.Contains(checks, false)
	}
	return slices.Contains(checks, true)
}

// lineOf returns the lines that a match stands in.
func lineOf(text string, at span) string {
	from := strings.LastIndexByte(text[:at.from], '\n') + 1
	to := strings.IndexByte(text[at.to:], '\n')
	if to < 0 {
		return text[from:]
	}
	return text[from : at.to+to]
}

// entropy is Shannon's, in bits a character.
func entropy(s string) (bits float64) {
	count := map[rune]int{}
	n := 0
	for _, c := range s {
		count[c]++
		n++
	}
	for _, c := range count {
		p := float64(c) / float64(n)
		bits -= p * math.Log2(p)
	}
	return bits
}
