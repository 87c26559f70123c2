package effectcheck

import (
	"slices"
	"strconv"
)

// checkPulls checks every pull request of the bot in the repository.
func (c *checker) checkPulls(r *Repo) {
	seen := map[string]int{} // by instance
	for _, pr := range r.Pulls {
		if pr.Author != c.observed.Bot {
			continue
		}
		c.effects["pulls"]++
		where := r.address(pr.Number)
		id, key, ok := parseMarker(pr.Body)
		t := c.expected[id]
		switch {
		case !ok || t == nil || key != "pull-request":
			c.report(Foreign, id, where, "the pull request carries the mark of no instance of the log")
			continue
		case !t.ownsBranch(r.Name, pr.Head):
			c.report(Foreign, id, where, "its branch %s is not the instance's", pr.Head)
		case t.mayPull == 0:
			c.report(Unexplained, id, where, "nothing in the log intends a pull request")
		}
		if first, twice := seen[id]; twice {
			c.report(Doubled, id, where, "there is pull request #%d already", first)
			continue
		}
		seen[id] = pr.Number
		if t.pull != 0 && t.pull != pr.Number {
			c.report(Missing, id, where, "the log says that its pull request is #%d", t.pull)
		}
		if t.issue.Number == 0 && t.pull == 0 {
			t.pull = pr.Number // created, and not recorded yet
		}
	}
	for _, t := range c.sorted() {
		if t.pull != 0 && t.issue.Repo == r.Name && seen[t.id] == 0 {
			c.report(Missing, t.id, r.address(t.pull), "the log says that its pull request is there")
		}
	}
}

// checkMerges checks the merges of the bot, and those that the log records.
func (c *checker) checkMerges(r *Repo) {
	tip := r.Branches[r.Default]
	moved := map[string]int{}
	for _, m := range r.Moves {
		if m.Branch == r.Default && m.Actor == c.observed.Bot {
			moved[m.After]++
		}
	}
	recorded := map[string]*expectation{}
	for _, t := range c.sorted() {
		if t.merged == "" || t.issue.Repo != r.Name {
			continue
		}
		number, _ := strconv.Atoi(t.vars["prNumber"])
		i := slices.IndexFunc(r.Pulls, func(pr Pull) bool { return pr.Number == number })
		switch {
		case i < 0 || !r.Pulls[i].Merged || r.Pulls[i].MergeSHA != t.merged:
			c.report(Merge, t.id, r.address(number), "the log says that it is merged as %.12s, and it is not", t.merged)
		case !r.contains(tip, t.merged):
			c.report(Lost, t.id, r.address(number), "it is merged as %.12s, which %s does not have", t.merged, r.Default)
		}
		recorded[t.merged] = t
	}
	for _, pr := range r.Pulls {
		if !pr.Merged || pr.MergedBy != c.observed.Bot {
			continue
		}
		c.effects["merges"]++
		where, t := r.address(pr.Number), recorded[pr.MergeSHA]
		switch {
		case t == nil:
			c.report(Merge, "", where, "it is merged as %.12s, and no instance of the log says so", pr.MergeSHA)
		case !t.ready[pr.SHA]:
			c.report(Merge, t.id, where, "it was merged at %.12s, which the log never says was ready", pr.SHA)
		}
		switch moved[pr.MergeSHA]--; {
		case moved[pr.MergeSHA] < 0:
			c.report(Merge, "", where, "it is merged as %.12s, to which we never moved %s", pr.MergeSHA, r.Default)
		case moved[pr.MergeSHA] > 0:
			c.report(Doubled, "", where, "%s was moved to its merge %.12s more than once", r.Default, pr.MergeSHA)
		}
	}
	for after, n := range moved {
		if n > 0 && !slices.ContainsFunc(r.Pulls, func(pr Pull) bool { return pr.MergeSHA == after }) {
			c.report(Unexplained, "", r.Name, "we moved %s to %.12s, which is the merge of no pull request", r.Default, after)
		}
	}
}
