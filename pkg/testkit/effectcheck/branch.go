package effectcheck

import (
	"maps"
	"slices"
	"strings"
)

// checkBranches checks every branch that the bot moved, and each of its moves.
func (c *checker) checkBranches(r *Repo) {
	moves := map[string][]Move{}
	for _, m := range r.Moves {
		if m.Branch != r.Default {
			moves[m.Branch] = append(moves[m.Branch], m)
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(moves)) {
		if slices.ContainsFunc(moves[branch], func(m Move) bool { return m.Actor == c.observed.Bot }) {
			c.checkBranch(r, branch, moves[branch])
		}
	}
	for branch := range r.Branches {
		if branch != r.Default && moves[branch] == nil {
			c.report(Unexplained, "", r.Name+" "+branch, "the branch is there, and nobody ever moved it")
		}
	}
	for _, t := range c.sorted() {
		if t.issue.Repo == r.Name {
			c.checkDelivered(r, t)
		}
	}
}

func (c *checker) checkBranch(r *Repo, branch string, moves []Move) {
	c.effects["branches"]++
	where := r.Name + " " + branch
	var owners []*expectation
	for _, t := range c.sorted() {
		if t.mayBranch != 0 && t.ownsBranch(r.Name, branch) {
			owners = append(owners, t)
		}
	}
	if len(owners) == 0 {
		c.report(Unexplained, "", where, "nothing in the log intends this branch")
		return
	}
	id := owners[0].id
	works := func(commit string) bool {
		return slices.ContainsFunc(owners, func(t *expectation) bool { return t.heads[commit] > 0 })
	}
	at, seen := "", map[string]bool{}
	for _, m := range moves {
		at = m.After
		if m.Actor != c.observed.Bot {
			continue
		}
		c.effects["pushes"]++
		switch {
		case m.Kind == "force_push" || m.Kind == "branch_deletion":
			c.report(Unexplained, id, where, "we made a %s of it, from %.12s to %.12s", m.Kind, m.Before, m.After)
		case seen[m.After]:
			c.report(Doubled, id, where, "it was brought to %.12s twice", m.After)
		case !works(m.After):
			c.report(Head, id, where, "we brought it to %.12s, which is no commit of the work", m.After)
		}
		seen[m.After] = true
	}
	switch now := r.Branches[branch]; {
	case now == "" && strings.Trim(at, "0") == "": // the removal is reported above
	case now != at && strings.Trim(at, "0") != "":
		c.report(Head, id, where, "it is at %.12s, and was moved last to %.12s", now, at)
	case seen[at] && owners[0].closed && len(owners) == 1 && owners[0].pushed != "" && owners[0].pushed != now:
		c.report(Head, id, where, "it is at %.12s, and the log says %.12s", now, owners[0].pushed)
	}
}

// checkDelivered checks that the delivered commits are on their branch.
func (c *checker) checkDelivered(r *Repo, t *expectation) {
	if t.branch == "" {
		return
	}
	where := r.Name + " " + t.branch
	now, there := r.Branches[t.branch]
	if !there {
		c.report(Missing, t.id, where, "the log says that its work is on this branch, and it is not there")
	}
	for _, commit := range t.delivered {
		if _, kept := r.Parents[commit]; !kept {
			c.report(Lost, t.id, where, "commit %.12s was handed in, and no ref holds it", commit)
		} else if there && !r.contains(now, commit) {
			c.report(Head, t.id, where, "it is at %.12s, which has not the commit %.12s that was handed in", now, commit)
		}
	}
}

// reportMissing reports recorded or demanded comments that are not on the forge.
func (c *checker) reportMissing() {
	for _, t := range c.sorted() {
		if t.discussion() == 0 {
			continue // no issue and no pull request
		}
		for _, key := range slices.Sorted(maps.Keys(t.must)) {
			c.report(Missing, t.id, t.issue.Repo, "after sequence %d there is %s to be read, and it is not there", t.must[key], key)
		}
	}
}
