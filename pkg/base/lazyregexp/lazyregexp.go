// Package lazyregexp compiles a regular expression at its first use. Signalbox starts its own program
// for each step in a sandbox (pkg/agent/sandbox/confine): what is compiled at the start of a process
// is paid there each time, some 60 ms for the rules' expressions.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. Its methods are those of regexp.Regexp, for use by many goroutines.
type Regexp struct {
	get func() *regexp.Regexp
}

// New returns the expression of a source that is part of the program. A source that is no expression
// panics at the first use; pkg/testkit/archtest finds those that are constants.
func New(source string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
}

// MatchString is that of regexp.Regexp, as are all below.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// Match reports a match in b.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// FindSubmatch returns the first match in b and its groups.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.get().FindSubmatch(b) }

// FindString returns the first match.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringIndex returns where the first match is.
func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

// FindStringSubmatch returns the first match and its groups.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindStringSubmatchIndex returns where the first match and its groups are.
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

// FindAllString returns the first n matches, all if n is negative.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringIndex returns where the first n matches are.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

// FindAllStringSubmatch returns the first n matches and their groups.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex returns where the first n matches and their groups are.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString replaces each match; $1 in with is a group.
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }

// ReplaceAllStringFunc replaces each match by what with returns for it.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, with)
}

// Split cuts s at the first n-1 matches.
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }
