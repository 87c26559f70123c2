// Package effectcheck compares a forge with a log. Each effect that the log records or
// demands must be on the forge once. Each effect on the forge must follow from an intent in
// the log. The package reads both from outside: it does not use the engine or the services
// that make the effects.
package effectcheck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Rule is the name of an invariant of a forge and its log.
type Rule string

// The rules.
const (
	Missing      Rule = "missing"      // what the log says was made is there
	Doubled      Rule = "doubled"      // nothing is there twice
	Foreign      Rule = "foreign"      // what is ours carries our marker, and stands where its instance is
	Unexplained  Rule = "unexplained"  // what is ours follows from an intent that came before
	Head         Rule = "head"         // a branch is at the commit that the log has it at
	Lost         Rule = "lost"         // the commits that the log names as handed in are there
	Merge        Rule = "merge"        // what is merged was found ready and is recorded, and what is recorded is merged
	Label        Rule = "label"        // an issue has the labels it was opened with
	Acknowledged Rule = "acknowledged" // a command that was answered is in the log, once, where the answer said
)

// Violation is a place where a rule does not hold.
type Violation struct {
	Rule     Rule
	Instance string // "" if it belongs to none
	Where    string // on the forge, such as acme/widgets#42
	Text     string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s of %q: %s", v.Rule, v.Where, v.Instance, v.Text)
}

// Report is the result of a check.
type Report struct {
	Violations []Violation
	Effects    map[string]int // checked effects by kind: comments, replies, branches, pushes, pulls, merges, issues
}

// Entry is one commit of the log.
type Entry struct {
	instance.Commit
	Instance string
}

// FindDefinition returns the definition with the content hash.
type FindDefinition func(hash string) (*workflow.Definition, bool)

// Check compares the forge with the whole log, oldest commit first. Call it when all
// services are idle: it reports an effect that is not made yet as missing.
func Check(log []Entry, observed Observed, find FindDefinition) Report {
	c := &checker{observed: observed, expected: map[string]*expectation{}, effects: map[string]int{}}
	for _, e := range log {
		t := c.expected[e.Instance]
		if t == nil {
			t = newExpectation(e.Instance, find)
			c.expected[e.Instance] = t
			c.ids = append(c.ids, e.Instance)
		}
		t.addCommitEvents(e.Commit)
	}
	for _, t := range c.expected {
		t.expectAtEnd()
	}
	for i := range observed.Repos {
		r := &observed.Repos[i]
		c.checkComments(r)
		c.checkPulls(r)
		c.checkBranches(r)
		c.checkMerges(r)
		c.checkLabels(r)
	}
	c.reportMissing()
	slices.SortFunc(c.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
	return Report{c.found, c.effects}
}

// checker is the state of one check.
type checker struct {
	observed Observed
	expected map[string]*expectation
	ids      []string // in the order they were opened
	found    []Violation
	effects  map[string]int
}

func (c *checker) report(rule Rule, instance, where, format string, args ...any) {
	c.found = append(c.found, Violation{rule, instance, where, fmt.Sprintf(format, args...)})
}

// sorted returns the expectations in the order in which their instances were opened.
func (c *checker) sorted() []*expectation {
	var all []*expectation
	for _, id := range c.ids {
		all = append(all, c.expected[id])
	}
	return all
}
