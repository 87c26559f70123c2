package host

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hmarr/codeowners"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// ownersFiles are where the code owners may be. The first file that is there counts.
var ownersFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// Judge returns what decides on the pull request.
func (h *Host) Judge(ctx context.Context, r store.Repo, i store.Issue) (rules.Judge, error) {
	if d, _ := rules.Of(r, i.Pull.Base); !d.CodeOwners {
		return h.judge(r, i, nil), nil
	}
	owners, err := h.CodeOwners(ctx, r, i.Pull)
	return h.judge(r, i, owners), err
}

func (h *Host) judge(r store.Repo, i store.Issue, owners [][]store.Account) rules.Judge {
	return rules.Judge{Repo: r, Issue: i, Owners: owners, CanWrite: func(id int64) bool {
		a, _ := h.Store.Load().Accounts.Get(id)
		return h.Access.Permission(a.Login, r.FullName()) >= store.Write
	}}
}

// AskOwners returns the pull request with reviews requested of the code owners, as
// rules.Judge.ToAsk has it. A request that a person removed is made again at the next push.
func (h *Host) AskOwners(r store.Repo, i store.Issue, owners [][]store.Account) store.Issue {
	p := *i.Pull
	p.Asked = slices.Concat(p.Asked, h.judge(r, i, owners).ToAsk())
	i.Pull = &p
	return i
}

// CodeOwners returns who owns the files that the pull request changes, as the file in its
// base has it. It is a list for each line that decides on one of them. The last line that
// matches a file decides. Of a file that was renamed both paths count.
//
// There are no teams here, and accounts have no addresses, so those own nothing. Nor do
// Apps, whose logins the syntax does not permit.
func (h *Host) CodeOwners(ctx context.Context, r store.Repo, p *store.Pull) ([][]store.Account, error) {
	repo := h.Repos.Repo(r.FullName())
	lines, err := ownerLines(ctx, repo, p.BaseSHA)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	from, err := repo.MergeBase(ctx, p.BaseSHA, p.HeadSHA)
	if err != nil {
		return nil, err
	}
	paths, err := repo.Paths(ctx, from, p.HeadSHA)
	if err != nil {
		return nil, err
	}
	var decide []*codeowners.Rule
	for _, path := range paths {
		line, err := lines.Match(path)
		if err != nil {
			return nil, err
		}
		if line != nil && !slices.Contains(decide, line) {
			decide = append(decide, line)
		}
	}
	var all [][]store.Account
	for _, line := range decide {
		all = append(all, accounts(h.Store.Load(), line.Owners))
	}
	return all, nil
}

// accounts returns the accounts of the logins among the owners.
func accounts(state *store.State, owners []codeowners.Owner) []store.Account {
	var all []store.Account
	for _, o := range owners {
		if a, ok := state.Account(o.Value); ok && o.Type == codeowners.UsernameOwner {
			all = append(all, a)
		}
	}
	return all
}

// ownerLines returns the lines of the file with the code owners in the commit, none if there
// is no file. As at GitHub, a file that is too large does not count. GitHub takes 3 MB, this
// forge 1 MiB.
func ownerLines(ctx context.Context, repo bare.Repo, commit string) (codeowners.Ruleset, error) {
	there, err := repo.Tree(ctx, commit, ownersFiles...)
	if err != nil {
		return nil, err
	}
	for _, path := range ownersFiles {
		at := slices.IndexFunc(there, func(e bare.TreeEntry) bool { return e.Path == path && e.Kind == "blob" })
		if at < 0 {
			continue
		}
		text, err := repo.Blob(ctx, there[at].SHA)
		if errors.Is(err, git.ErrTooLarge) {
			return nil, nil
		}
		return parseOwners(string(text)), err
	}
	return nil, nil
}

// parseOwners parses line by line. Lines that are wrong are left out, as at GitHub; the
// library refuses the whole file for one. To the library a pattern is wrong, too, if it has
// letters beyond ASCII, or punctuation other than .-_+@()\*?/, which GitHub takes.
func parseOwners(text string) codeowners.Ruleset {
	var all codeowners.Ruleset
	for line := range strings.Lines(text) {
		one, err := codeowners.ParseFile(strings.NewReader(line))
		// A lone slash matches nothing, and the library panics where it is matched.
		if err == nil && len(one) == 1 && one[0].RawPattern() != "/" {
			all = append(all, one...)
		}
	}
	return all
}
