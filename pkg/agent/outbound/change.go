package outbound

import (
	"bytes"
	"context"
	"slices"

	"github.com/signalbox/signalbox/pkg/git"
)

// Change is work that was checked: a commit that may be pushed to a branch. Only
// Change of a Checker makes one.
type Change struct{ head, branch string }

// Head returns the commit.
func (c Change) Head() string { return c.head }

// Branch returns the name of the branch, without refs/heads/.
func (c Change) Branch() string { return c.branch }

// Push is work that is to be pushed. Its commits have to be in the repository
// that it is checked in.
type Push struct {
	Head   string
	Branch string // without refs/heads/
	// Default is the default branch of the repository on the forge, and Tip its commit.
	Default, Tip string
	// There is where the branch is on the forge; "" if it is not.
	There string
	// Known are commits that the forge has on its branches. Their content does not leave
	// with this push.
	Known []string
}

// Change checks what a push would add to the forge. The error is a *Refusal if the
// work may not leave.
func (c *Checker) Change(ctx context.Context, repo git.Runner, p Push) (Change, error) {
	s := &commits{rules: c.rules, findings: c.findings(), git: repo}
	if p.Branch == p.Default {
		s.add(Finding{Rule: "branch", Path: p.Branch, Detail: "work goes to a branch of its own, not to the default branch"})
	}
	for _, f := range c.secrets.Scan(p.Branch) {
		s.add(Finding{Rule: "branch", Detail: "the branch's name has " + f.What()})
	}
	if p.Tip == "" {
		s.add(Finding{Rule: "history", Detail: "the repository on the forge has no default branch to compare with"})
		return Change{}, s.err()
	}
	if err := s.list(ctx, p.Head, p.Known); err != nil {
		return Change{}, err
	}
	for _, root := range s.roots() {
		s.add(Finding{Rule: "history", Commit: root.id, Detail: "its history is not that of the repository"})
	}
	if len(s.order) > 0 { // every file of another history would be one more finding
		return Change{}, s.err()
	}
	var found []Finding
	if len(s.all) > 0 {
		var err error
		if found, err = (&commits{rules: c.rules, findings: c.findings(), git: repo, all: s.all}).check(ctx); err != nil {
			return Change{}, err
		}
	}
	for _, f := range found {
		s.add(f)
	}
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == "forbidden" }) {
		if err := s.whole(ctx, p); err != nil {
			return Change{}, err
		}
	}
	if err := s.err(); err != nil {
		return Change{}, err
	}
	return Change{p.Head, p.Branch}, nil
}

// whole checks the paths of the change as a whole: a merge may bring back what an
// old branch of the forge has. A path that the default branch, the branch itself or
// their common past has too is not of this change.
func (s *commits) whole(ctx context.Context, p Push) error {
	if len(s.rules.Forbidden) == 0 {
		return nil
	}
	all, err := s.forbiddenSince(ctx, p.Tip, p.Head)
	if err != nil || len(all) == 0 {
		return err
	}
	var against []string
	if past, err := s.git.Run(ctx, "merge-base", p.Tip, p.Head); err == nil {
		against = append(against, past)
	}
	if p.There != "" {
		against = append(against, p.There)
	}
	for _, was := range against {
		names, err := s.forbiddenSince(ctx, was, p.Head)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(names, name) })
	}
	for _, name := range all {
		s.add(Finding{Rule: "forbidden", Path: name, Detail: "no change may touch it"})
	}
	return nil
}

// forbiddenSince lists the paths that no change may touch and that differ between two commits.
func (s *commits) forbiddenSince(ctx context.Context, was, now string) ([]string, error) {
	var out bytes.Buffer
	args := append([]string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", was, now, "--"},
		prefixed(":(glob,icase)", s.rules.Forbidden)...)
	err := s.git.Stream(ctx, nil, &out, args...)
	return splitZ(out.String()), err
}
