// Package outbound checks what is about to leave for a forge. That is the commits of a push
// and the texts of comments, pull requests, issues, labels and merges.
//
// Roles check their own change with it, so that a developer gets a finding while it
// can still be mended. Forge-side services check again what they are
// handed, since nothing that comes over the bus is believed. A push takes a
// Change, and only a check makes one.
package outbound

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/secret"
)

// Identity is the author and committer of commits.
type Identity struct{ Name, Email string }

// String returns the identity as git writes it.
func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// DefaultIdentity returns the identity of the product's own commits.
func DefaultIdentity() Identity { return Identity{"Signalbox", "signalbox@localhost"} }

// ParseIdentity returns the identity that git writes so, the zero one for "".
func ParseIdentity(s string) (Identity, error) {
	if s == "" {
		return Identity{}, nil
	}
	name, rest, _ := strings.Cut(s, " <")
	email, end := strings.CutSuffix(rest, ">")
	if name == "" || !end || !strings.Contains(email, "@") || strings.ContainsAny(name+email, "<>\n\x00") || strings.Contains(email, " ") {
		return Identity{}, fmt.Errorf("identity %q: want NAME <EMAIL>", s)
	}
	return Identity{name, email}, nil
}

// Rules limits what may leave. Patterns are git's globs: ** crosses directories;
// case does not matter.
type Rules struct {
	Forbidden      []string // paths no change may touch
	MaxFile        int64    // bytes of one file; 0: no limit
	MaxCommits     int      // of one push; 0: no limit
	SecretsAllowed []string // paths whose apparent secrets are none, such as test data
	Identity       Identity // of each commit's author and committer, in addition to DefaultIdentity; empty: anybody
}

// DefaultRules returns rules that forbid files that run with a forge's rights, say who has
// to approve, or change what a checkout fetches. They forbid files above 10 MiB.
func DefaultRules() Rules {
	return Rules{
		Forbidden: []string{
			".git/**", "**/.git/**", ".gitmodules",
			".github/workflows/**", ".github/actions/**", ".github/dependabot.y*ml", ".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS",
			".gitlab-ci.yml", ".gitlab/CODEOWNERS", ".gitea/workflows/**", ".forgejo/workflows/**", ".circleci/**", ".travis.yml",
			"azure-pipelines.yml", "Jenkinsfile", ".signalbox/config.y*ml",
		},
		MaxFile: 10 << 20, MaxCommits: 1000, Identity: DefaultIdentity(),
	}
}

// Finding is a reason why something must not leave. It never shows a secret.
type Finding struct {
	// Rule is forbidden, size, link, submodule, secret, name, bidi, identity, message,
	// history or branch for commits. For texts it is secret, size, or a rule of
	// sanitize.Live.
	Rule   string
	Commit string // full; "" if it is of no single commit
	Path   string // of the file, or what the text is, such as "comment"
	Line   int    // from 1; 0: of none
	Detail string
}

// String returns the finding with its place.
func (f Finding) String() string {
	where := f.Path
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	if f.Commit != "" {
		where = strings.TrimSpace(where + " in commit " + f.Commit[:min(12, len(f.Commit))])
	}
	return fmt.Sprintf("%s: %s (%s)", where, f.Detail, f.Rule)
}

// Refusal is the error of what must not leave.
type Refusal struct{ Findings []Finding }

// Error implements error.
func (r *Refusal) Error() string {
	all := r.Strings()
	text := "it may not leave: " + strings.Join(all[:min(len(all), maxShown)], "; ")
	if more := len(all) - maxShown; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// Strings returns the findings, each as a line.
func (r *Refusal) Strings() []string {
	all := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		all[i] = f.String()
	}
	return all
}

// The limits of a report, which has to be read.
const (
	maxFindings = 50
	maxShown    = 10 // in one line
)

// Checker checks by rules. It is safe for concurrent use.
type Checker struct {
	rules   Rules
	secrets *secret.Scanner
}

// New returns a checker that finds credentials with the scanner.
func New(rules Rules, secrets *secret.Scanner) *Checker { return &Checker{rules, secrets} }

// Redact returns a text without the credentials that stand in it.
func (c *Checker) Redact(s string) string { return c.secrets.Redact(s) }

// With returns the checker with other rules.
func (c *Checker) With(rules Rules) *Checker { return &Checker{rules, c.secrets} }

// Forbidding returns a checker that forbids more paths, as git's globs.
func (c *Checker) Forbidding(paths []string) *Checker {
	if len(paths) == 0 {
		return c
	}
	rules := c.rules
	rules.Forbidden = slices.Concat(rules.Forbidden, paths)
	return c.With(rules)
}

// findings collects each finding once, without secrets.
type findings struct {
	secrets *secret.Scanner
	found   map[Finding]bool
	order   []Finding
}

func (c *Checker) findings() *findings {
	return &findings{secrets: c.secrets, found: map[Finding]bool{}}
}

// add records a finding, unless there is the same of another commit.
func (s *findings) add(f Finding) {
	f.Path, f.Detail = s.show(f.Path), s.show(f.Detail)
	same := f
	same.Commit = ""
	if len(s.order) < maxFindings && !s.found[same] {
		s.found[same] = true
		s.order = append(s.order, f)
	}
}

// show returns a name of others as it may stand in a report.
func (s *findings) show(name string) string {
	name = s.secrets.Redact(name)
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}

// err returns the findings as a refusal.
func (s *findings) err() error {
	if len(s.order) == 0 {
		return nil
	}
	return &Refusal{s.order}
}
