package effectcheck

import (
	"maps"
	"slices"
	"strings"
)

// branches judges every branch that we moved, and each of its moves.
func (c *check) branches(r *Repo) {
	moves := map[string][]Move{}
	for _, m := range r.Moves {
		if m.Branch != r.Default {
			moves[m.Branch] = append(moves[m.Branch], m)
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(moves)) {
		if slices.ContainsFunc(moves[branch], func(m Move) bool { return m.Actor == c.world.Bot }) {
			c.branch(r, branch, moves[branch])
		}
	}
	for branch := range r.Branches {
		if branch != r.Default && moves[branch] == nil {
			c.say(Unexplained, "", r.Name+" "+branch, "the branch is there, and nobody ever moved it")
		}
	}
	for _, t := range c.all() {
		if t.issue.Repo == r.Name {
			c.handed(r, t)
		}
	}
}

func (c *check) branch(r *Repo, branch string, moves []Move) {
	c.effects["branches"]++
	where := r.Name + " " + branch
	var owners []*trail
	for _, t := range c.all() {
		if t.mayBranch != 0 && t.owns(r.Name, branch) {
			owners = append(owners, t)
		}
	}
	if len(owners) == 0 {
		c.say(Unexplained, "", where, "nothing in the log intends this branch")
		return
	}
	id := owners[0].id
	works := func(commit string) bool {
		return slices.ContainsFunc(owners, func(t *trail) bool { return t.heads[commit] > 0 })
	}
	at, seen := "", map[string]bool{}
	for _, m := range moves {
		at = m.After
		if m.Actor != c.world.Bot {
			continue
		}
		c.effects["pushes"]++
		switch {
		case m.Kind == "force_push" || m.Kind == "branch_deletion":
			c.say(Unexplained, id, where, "we made a %s of it, from %.12s to %.12s", m.Kind, m.Before, m.After)
		case seen[m.After]:
			c.say(Doubled, id, where, "it was brought to %.12s twice", m.After)
		case !works(m.After):
			c.say(Head, id, where, "we brought it to %.12s, which is no commit of the work", m.After)
		}
		seen[m.After] = true
	}
	switch now := r.Branches[branch]; {
	case now == "" && strings.Trim(at, "0") == "": // that it was removed is said
	case now != at && strings.Trim(at, "0") != "":
		c.say(Head, id, where, "it is at %.12s, and was moved last to %.12s", now, at)
	case seen[at] && owners[0].closed && len(owners) == 1 && owners[0].pushed != "" && owners[0].pushed != now:
		c.say(Head, id, where, "it is at %.12s, and the log says %.12s", now, owners[0].pushed)
	}
}

// handed holds what the log says was handed in to what is there.
func (c *check) handed(r *Repo, t *trail) {
	if t.branch == "" {
		return
	}
	where := r.Name + " " + t.branch
	now, there := r.Branches[t.branch]
	if !there {
		c.say(Missing, t.id, where, "the log says that its work is on this branch, and it is not there")
	}
	for _, commit := range t.handed {
		if _, kept := r.Parents[commit]; !kept {
			c.say(Lost, t.id, where, "commit %.12s was handed in, and no ref holds it", commit)
		} else if there && !r.holds(now, commit) {
			c.say(Head, t.id, where, "it is at %.12s, which has not the commit %.12s that was handed in", now, commit)
		}
	}
}

// missing says which comments that the log records are not there.
func (c *check) missing() {
	for _, t := range c.all() {
		if t.place() == 0 {
			continue // nobody reads it
		}
		for _, key := range slices.Sorted(maps.Keys(t.must)) {
			c.say(Missing, t.id, t.issue.Repo, "after sequence %d there is %s to be read, and it is not there", t.must[key], key)
		}
	}
}
