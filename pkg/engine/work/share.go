package work

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Share is what a role has spent with a brain.
type Share struct {
	Role  string
	Brain string // such as exec:claude; empty: not known
	Cost  instance.Cost
}

// Shares returns what an instance's commits tell of its costs, the dearest share first.
func Shares(commits []instance.Commit) (all []Share) {
	role := ""
	for _, c := range commits {
		for _, e := range c.Events {
			switch e := e.(type) {
			case instance.Claimed:
				role = e.Role
			case instance.Spent:
				all = AddShare(all, role, e.Spend)
			case instance.Reported:
				all = AddShare(all, e.Role, e.Result.Spend)
			}
		}
	}
	return all
}

// AddShare adds a cost of a role to the shares, and returns them.
func AddShare(all []Share, role string, c instance.Cost) []Share {
	if c.Zero() {
		return all
	}
	i := slices.IndexFunc(all, func(s Share) bool { return s.Role == role && s.Brain == c.Brain })
	if i < 0 {
		all = append(all, Share{Role: role, Brain: c.Brain, Cost: c})
	} else {
		all[i].Cost = all[i].Cost.Add(c)
	}
	slices.SortStableFunc(all, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Cost.USD, a.Cost.USD), cmp.Compare(b.Cost.TokensIn+b.Cost.TokensOut, a.Cost.TokensIn+a.Cost.TokensOut),
			cmp.Compare(b.Cost.WallMS, a.Cost.WallMS))
	})
	return all
}

// String describes the share for people.
func (s Share) String() string {
	parts := []string{}
	if s.Cost.USD > 0 && s.Cost.USD < 0.01 {
		parts = append(parts, "under $0.01")
	} else if s.Cost.USD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", s.Cost.USD))
	}
	if tokens := s.Cost.TokensIn + s.Cost.TokensOut; tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", tokens))
	} else if s.Cost.USD == 0 && s.Brain != "" && s.Brain != "rules" {
		parts = append(parts, "tokens and dollars unknown")
	}
	if wall := (time.Duration(s.Cost.WallMS) * time.Millisecond).Round(time.Second); wall > 0 {
		parts = append(parts, wall.String())
	}
	if len(parts) == 0 {
		parts = append(parts, "less than a second")
	}
	who := s.Role
	if s.Brain != "" {
		who += " with " + s.Brain
	}
	return who + " " + strings.Join(parts, ", ")
}
