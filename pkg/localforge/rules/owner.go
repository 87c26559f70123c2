package rules

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// owners returns the code owners that count, of each list with any: who can write and is
// not the author.
func (j Judge) owners() [][]store.Account {
	var all [][]store.Account
	for _, list := range j.Owners {
		counting := slices.DeleteFunc(slices.Clone(list), func(a store.Account) bool { return a.ID == j.Issue.Author || !j.CanWrite(a.ID) })
		if len(counting) > 0 {
			all = append(all, counting)
		}
	}
	return all
}

// awaited returns the logins of the code owners whose review the base branch waits for:
// those of the lists of whom none approved. One of each list is enough.
func (j Judge) awaited(approved []int64) []string {
	if d, _ := Of(j.Repo, j.Issue.Pull.Base); !d.CodeOwners {
		return nil
	}
	var logins []string
	for _, list := range j.owners() {
		if slices.ContainsFunc(list, func(a store.Account) bool { return slices.Contains(approved, a.ID) }) {
			continue
		}
		for _, a := range list {
			if !slices.Contains(logins, a.Login) {
				logins = append(logins, a.Login)
			}
		}
	}
	return logins
}

// andOr joins names as GitHub does: "ann, bob, and/or eve".
func andOr(names []string) string {
	last := len(names) - 1
	if last < 2 {
		return strings.Join(names, " and/or ")
	}
	return strings.Join(names[:last], ", ") + ", and/or " + names[last]
}

// ToAsk returns the code owners of whom a review is to be requested now. People who are
// requested already, or have reviewed, are not among them. A review that is dismissed, or has to be for
// this head, does not count. A draft requests nobody.
func (j Judge) ToAsk() []int64 {
	p := j.Issue.Pull
	if p.Draft {
		return nil
	}
	stale := Stale(j.Repo, j.Issue)
	done := slices.Clone(p.Asked)
	for _, w := range j.Repo.ReviewsOf(j.Issue.Number) {
		if w.State != "DISMISSED" && !slices.Contains(stale, w) {
			done = append(done, w.Author)
		}
	}
	var ask []int64
	for _, a := range slices.Concat(j.owners()...) {
		if !slices.Contains(done, a.ID) {
			ask, done = append(ask, a.ID), append(done, a.ID)
		}
	}
	return ask
}

// Stale returns the approvals of an earlier head that the base branch wants dismissed.
func Stale(r store.Repo, i store.Issue) []store.Review {
	if d, _ := Of(r, i.Pull.Base); !d.DismissStale {
		return nil
	}
	return slices.DeleteFunc(r.ReviewsOf(i.Number), func(w store.Review) bool { return w.State != "APPROVED" || w.Commit == i.Pull.HeadSHA })
}
