package store

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Label returns the label with the name, in letters of either case.
func (r Repo) Label(name string) (Label, bool) {
	for _, l := range r.Labels {
		if strings.EqualFold(l.Name, name) {
			return l, true
		}
	}
	return Label{}, false
}

// CommentsOn returns the comments on the issue, oldest first.
func (r Repo) CommentsOn(number int64) []Comment {
	if i, _ := r.Issues.Get(number); i.Gone != nil {
		return []Comment{}
	}
	return r.Comments.Where(func(c Comment) bool { return c.Issue == number && !c.Deleted })
}

// MarksOn returns the reactions to the comment, oldest first.
func (r Repo) MarksOn(comment int64) []Mark {
	return r.Marks.Where(func(m Mark) bool { return m.Comment == comment && !m.Deleted })
}

// LinesOf returns the comments on lines of the pull request, oldest first.
func (r Repo) LinesOf(number int64) []LineComment {
	return r.Lines.Where(func(l LineComment) bool { return l.Pull == number && !l.Deleted })
}

// ReviewsOf returns the reviews of the pull request, oldest first.
func (r Repo) ReviewsOf(number int64) []Review {
	return r.Reviews.Where(func(w Review) bool { return w.Pull == number })
}

// Pusher returns the account that moved the branch to the commit, 0 if that is not
// recorded.
func (r Repo) Pusher(ref, sha string) int64 {
	for _, p := range slices.Backward(r.Pushes) {
		if p.Ref == ref && p.After == sha {
			return p.Actor
		}
	}
	return 0
}

// LastMove returns the commit that the branch was last moved to, "" if no move is
// recorded.
func (r Repo) LastMove(ref string) string {
	for _, p := range slices.Backward(r.Pushes) {
		if p.Ref == ref {
			return p.After
		}
	}
	return ""
}

// LatestStatuses returns the newest status of every context on the commit.
func (r Repo) LatestStatuses(sha string) []Status {
	var latest []Status
	for _, s := range slices.Backward(r.Statuses) {
		if s.SHA == sha && !slices.ContainsFunc(latest, func(l Status) bool { return l.Context == s.Context }) {
			latest = append(latest, s)
		}
	}
	slices.Reverse(latest)
	return latest
}

// LatestChecks returns the newest run of every name and app on the commit.
func (r Repo) LatestChecks(sha string) []Check {
	var latest []Check
	for _, k := range slices.Backward(r.Checks) {
		if k.SHA == sha && !slices.ContainsFunc(latest, func(l Check) bool { return l.Name == k.Name && l.App == k.App }) {
			latest = append(latest, k)
		}
	}
	slices.Reverse(latest)
	return latest
}

// Guard returns the classic protection of the branch, nil if it has none.
func (r Repo) Guard(branch string) *Demands {
	for _, g := range slices.Backward(r.Guards) {
		if g.Branch == branch {
			return g.Demands
		}
	}
	return nil
}

// RulesetsOf returns the active rulesets of the branch.
func (r Repo) RulesetsOf(branch string) []Ruleset {
	return r.Rulesets.Where(func(s Ruleset) bool {
		return s.Active && !s.Deleted && slices.ContainsFunc(s.Branches, func(b string) bool {
			return b == "~ALL" || b == "~DEFAULT_BRANCH" && branch == r.Branch || b == "refs/heads/"+branch
		})
	})
}

var (
	// closingPattern is how a description says which issues it closes.
	closingPattern = lazyregexp.New(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b`)
	mentionPattern = lazyregexp.New(`(?:^|[^\w&/])#(\d+)\b`)
)

// ClosedBy returns the numbers of the issues that merging the pull request closes.
func (r Repo) ClosedBy(pull Issue) []int64 {
	if pull.Pull.Base != r.Branch {
		return nil
	}
	return numbers(closingPattern, pull.Body)
}

// Mentioning returns the pull requests that name the issue in their description or
// comments.
func (r Repo) Mentioning(number int64) []Issue {
	names := func(text string) bool { return slices.Contains(numbers(mentionPattern, text), number) }
	return r.Issues.Where(func(p Issue) bool {
		return p.Pull != nil && (names(p.Body) || slices.ContainsFunc(r.CommentsOn(p.Number), func(c Comment) bool { return names(c.Body) }))
	})
}

// numbers returns the first group of every match of the pattern as a number.
func numbers(pattern *lazyregexp.Regexp, text string) []int64 {
	var all []int64
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(match[1], 10, 64) // of digits only; 0 if it is too long, which no issue has
		all = append(all, n)
	}
	return all
}
