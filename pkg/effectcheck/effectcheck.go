// Package effectcheck holds a forge against a log: what the log says was decided
// and done there, and what is there. It reads both from outside and knows nothing
// of the engine or of the services that made the effects: nothing may be missing,
// nothing doubled, and nothing there that no intent explains.
package effectcheck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Rule names one thing that holds of every forge and its log.
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

// Violation is one place where a rule does not hold.
type Violation struct {
	Rule     Rule
	Instance string // empty: it belongs to none
	Where    string // on the forge, such as acme/widgets#42
	Text     string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s of %q: %s", v.Rule, v.Where, v.Instance, v.Text)
}

// Report is what a check came to.
type Report struct {
	Violations []Violation
	Effects    map[string]int // that were checked: comments, replies, branches, pushes, pulls, merges, issues
}

// Entry is one commit of the log.
type Entry struct {
	instance.Commit
	Instance string
}

// Find returns the definition with the content hash.
type Find func(hash string) (*workflow.Definition, bool)

// Check holds the world against the whole log, oldest commit first. It is to be
// asked when nothing is under way any more: an effect that is still to come is
// missing.
func Check(log []Entry, world World, find Find) Report {
	c := &check{world: world, trails: map[string]*trail{}, effects: map[string]int{}}
	for _, e := range log {
		t := c.trails[e.Instance]
		if t == nil {
			t = newTrail(e.Instance, find)
			c.trails[e.Instance] = t
			c.ids = append(c.ids, e.Instance)
		}
		t.add(e.Commit)
	}
	for _, t := range c.trails {
		t.end()
	}
	for i := range world.Repos {
		r := &world.Repos[i]
		c.comments(r)
		c.pulls(r)
		c.branches(r)
		c.merges(r)
		c.labels(r)
	}
	c.missing()
	slices.SortFunc(c.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
	return Report{c.found, c.effects}
}

// check is one under way.
type check struct {
	world   World
	trails  map[string]*trail
	ids     []string // in the order they were opened
	found   []Violation
	effects map[string]int
}

func (c *check) say(rule Rule, instance, where, format string, args ...any) {
	c.found = append(c.found, Violation{rule, instance, where, fmt.Sprintf(format, args...)})
}

// all returns the trails in the order they were opened.
func (c *check) all() []*trail {
	var all []*trail
	for _, id := range c.ids {
		all = append(all, c.trails[id])
	}
	return all
}
