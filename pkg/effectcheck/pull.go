package effectcheck

import (
	"slices"
	"strconv"
)

// pulls judges every pull request of ours in the repository.
func (c *check) pulls(r *Repo) {
	seen := map[string]int{} // by instance
	for _, pr := range r.Pulls {
		if pr.Author != c.world.Bot {
			continue
		}
		c.effects["pulls"]++
		where := r.at(pr.Number)
		id, key, ok := marked(pr.Body)
		t := c.trails[id]
		switch {
		case !ok || t == nil || key != "pull-request":
			c.say(Foreign, id, where, "the pull request carries the mark of no instance of the log")
			continue
		case !t.owns(r.Name, pr.Head):
			c.say(Foreign, id, where, "its branch %s is not the instance's", pr.Head)
		case t.mayPull == 0:
			c.say(Unexplained, id, where, "nothing in the log intends a pull request")
		}
		if first, twice := seen[id]; twice {
			c.say(Doubled, id, where, "there is pull request #%d already", first)
			continue
		}
		seen[id] = pr.Number
		if t.pull != 0 && t.pull != pr.Number {
			c.say(Missing, id, where, "the log says that its pull request is #%d", t.pull)
		}
		if t.issue.Number == 0 && t.pull == 0 {
			t.pull = pr.Number // made, and not recorded yet
		}
	}
	for _, t := range c.all() {
		if t.pull != 0 && t.issue.Repo == r.Name && seen[t.id] == 0 {
			c.say(Missing, t.id, r.at(t.pull), "the log says that its pull request is there")
		}
	}
}

// merges judges what is merged, by us, and what the log says was.
func (c *check) merges(r *Repo) {
	tip := r.Branches[r.Default]
	moved := map[string]int{}
	for _, m := range r.Moves {
		if m.Branch == r.Default && m.Actor == c.world.Bot {
			moved[m.After]++
		}
	}
	recorded := map[string]*trail{}
	for _, t := range c.all() {
		if t.merged == "" || t.issue.Repo != r.Name {
			continue
		}
		number, _ := strconv.Atoi(t.vars["prNumber"])
		i := slices.IndexFunc(r.Pulls, func(pr Pull) bool { return pr.Number == number })
		switch {
		case i < 0 || !r.Pulls[i].Merged || r.Pulls[i].MergeSHA != t.merged:
			c.say(Merge, t.id, r.at(number), "the log says that it is merged as %.12s, and it is not", t.merged)
		case !r.holds(tip, t.merged):
			c.say(Lost, t.id, r.at(number), "it is merged as %.12s, which %s does not have", t.merged, r.Default)
		}
		recorded[t.merged] = t
	}
	for _, pr := range r.Pulls {
		if !pr.Merged || pr.MergedBy != c.world.Bot {
			continue
		}
		c.effects["merges"]++
		where, t := r.at(pr.Number), recorded[pr.MergeSHA]
		switch {
		case t == nil:
			c.say(Merge, "", where, "it is merged as %.12s, and no instance of the log says so", pr.MergeSHA)
		case !t.ready[pr.SHA]:
			c.say(Merge, t.id, where, "it was merged at %.12s, which the log never says was ready", pr.SHA)
		}
		switch moved[pr.MergeSHA]--; {
		case moved[pr.MergeSHA] < 0:
			c.say(Merge, "", where, "it is merged as %.12s, to which we never moved %s", pr.MergeSHA, r.Default)
		case moved[pr.MergeSHA] > 0:
			c.say(Doubled, "", where, "%s was moved to its merge %.12s more than once", r.Default, pr.MergeSHA)
		}
	}
	for after, n := range moved {
		if n > 0 && !slices.ContainsFunc(r.Pulls, func(pr Pull) bool { return pr.MergeSHA == after }) {
			c.say(Unexplained, "", r.Name, "we moved %s to %.12s, which is the merge of no pull request", r.Default, after)
		}
	}
}
