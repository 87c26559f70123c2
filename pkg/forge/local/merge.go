package local

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

func notMergeable(message string) *failure {
	return &failure{status: http.StatusMethodNotAllowed, message: message}
}

// mergePull merges on the forge, without a work tree. The decision is in the
// journal before the base branch moves, so that a merge is known as one
// whenever the forge is killed.
func mergePull(c *call) (int, any, error) {
	var in struct {
		CommitTitle   *string `json:"commit_title"`
		CommitMessage *string `json:"commit_message"`
		SHA           string
		Method        string `json:"merge_method"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if !slices.Contains([]string{"", "merge", "squash", "rebase"}, in.Method) {
		return 0, nil, invalid("PullRequest", "merge_method", "invalid")
	}
	c.repo.refs.Lock()
	defer c.repo.refs.Unlock()
	if err := c.f.followLocked(c.Context(), c.name(), 0); err != nil {
		return 0, nil, err
	}
	c.refresh()
	i, err := c.found(c.repo)
	if err != nil {
		return 0, nil, err
	}
	p := i.Pull
	switch {
	case p == nil:
		return 0, nil, errNotFound
	case p.Draft:
		return 0, nil, notMergeable("Pull Request is still a draft")
	case !i.open():
		return 0, nil, notMergeable("Pull Request is not mergeable")
	case in.SHA != "" && in.SHA != p.HeadSHA:
		return 0, nil, &failure{status: http.StatusConflict, message: "Head branch was modified. Review and try the merge again."}
	}
	method := cmp.Or(in.Method, "merge")
	if err := c.repo.allows(p.Base, method); err != nil {
		return 0, nil, err
	}
	about, err := c.f.comparison(c.Context(), c.name(), p.BaseSHA, p.HeadSHA)
	if err != nil {
		return 0, nil, err
	}
	if why := c.f.unmet(c.repo, i); len(why) > 0 {
		return 0, nil, notMergeable(strings.Join(why, " "))
	}
	if d, _ := c.repo.demands(p.Base); d.Strict && about.behind > 0 {
		return 0, nil, notMergeable("Head branch is out of date. Review and try the merge again.")
	}
	m := merger{f: c.f, repo: c.repo, pull: i, by: c.user, title: in.CommitTitle, body: in.CommitMessage}
	m.git = m.f.git(c.name()).WithEnv("GIT_COMMITTER_DATE="+m.date(), "GIT_AUTHOR_DATE="+m.date())
	sha, err := m.make(c.Context(), method)
	if err != nil {
		return 0, nil, err
	}
	if err := c.land(i, sha); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"sha": sha, "merged": true, "message": "Pull Request successfully merged"}, nil
}

// land moves the base branch to the commit that merges the pull request.
func (c *call) land(i issue, sha string) error {
	err := c.change(func(t *tx, r repo) error {
		now, _ := r.issues.get(i.Number)
		p := *now.Pull
		p.Merging = &merging{SHA: sha, By: c.user.ID}
		now.Pull = &p
		t.put(entry{Repo: c.name(), Issue: &now})
		return nil
	})
	if err != nil {
		return err
	}
	// The journal says that this happens: a client that leaves now changes nothing.
	ctx := context.WithoutCancel(c.Context())
	_, err = c.f.git(c.name()).Run(ctx, "update-ref", i.Pull.baseRef(), sha, i.Pull.BaseSHA)
	if git.ExitCode(err) > 0 {
		return notMergeable("Base branch was modified. Review and try the merge again.")
	}
	if err != nil {
		return err
	}
	return c.f.followLocked(ctx, c.name(), c.user.ID)
}

// merger makes the commits of one merge.
type merger struct {
	f           *Forge
	git         git.Runner
	repo        repo
	pull        issue
	by          account
	title, body *string // nil: the usual one
}

func (m merger) date() string { return fmt.Sprintf("%d +0000", m.f.now().Unix()) }

// make makes the commit the base branch is to move to.
func (m merger) make(ctx context.Context, method string) (string, error) {
	p := m.pull.Pull
	if method == "rebase" {
		return m.rebase(ctx)
	}
	tree, conflicts, err := mergeTree(ctx, m.git, p.BaseSHA, p.HeadSHA)
	if err != nil {
		return "", err
	}
	if conflicts {
		return "", notMergeable("Pull Request has merge conflicts")
	}
	parents := []string{p.BaseSHA, p.HeadSHA}
	author := m.by
	title := fmt.Sprintf("Merge pull request #%d from %s/%s", m.pull.Number, m.repo.Owner, p.Head)
	body := m.pull.Title
	if method == "squash" {
		parents = parents[:1]
		author, _ = m.f.state.Load().accounts.get(m.pull.Author)
		title = fmt.Sprintf("%s (#%d)", m.pull.Title, m.pull.Number)
		if body, err = m.messages(ctx); err != nil {
			return "", err
		}
	}
	message := deref(m.title, title) + "\n\n" + deref(m.body, body)
	return m.commit(ctx, signature{name: author.Login, email: author.email()}, message, tree, parents...)
}

// messages lists the messages of the commits that are squashed; a single one
// is its own.
func (m merger) messages(ctx context.Context) (string, error) {
	p := m.pull.Pull
	commits, err := m.f.commits(ctx, m.repo.fullName(), "--reverse", p.HeadSHA, "^"+p.BaseSHA)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, one := range commits {
		if len(commits) == 1 {
			_, body, _ := strings.Cut(one.message, "\n")
			return strings.TrimSpace(body), nil
		}
		lines = append(lines, "* "+one.message)
	}
	return strings.Join(lines, "\n\n"), nil
}

// rebase puts the commits one by one on the base branch.
func (m merger) rebase(ctx context.Context) (string, error) {
	p := m.pull.Pull
	commits, err := m.f.commits(ctx, m.repo.fullName(), "--reverse", p.HeadSHA, "^"+p.BaseSHA)
	if err != nil {
		return "", err
	}
	tip := p.BaseSHA
	for _, one := range commits {
		if len(one.parents) != 1 {
			return "", notMergeable("This branch can't be rebased")
		}
		// merge-tree finds the merge base by itself, so give what it is put on
		// the parent that makes it the right one.
		tree, err := m.git.Run(ctx, "rev-parse", tip+"^{tree}")
		if err != nil {
			return "", err
		}
		onto, err := m.commit(ctx, one.author, "onto", tree, one.parents[0])
		if err != nil {
			return "", err
		}
		tree, conflicts, err := mergeTree(ctx, m.git, onto, one.sha)
		if err != nil {
			return "", err
		}
		if conflicts {
			return "", notMergeable("Pull Request has merge conflicts")
		}
		if tip, err = m.commit(ctx, one.author, one.message, tree, tip); err != nil {
			return "", err
		}
	}
	return tip, nil
}

var controls = regexp.MustCompile(`[\x00-\x08\x0b-\x1f]`)

// commit makes a commit of a tree; the author's date is kept where there is one.
func (m merger) commit(ctx context.Context, author signature, message, tree string, parents ...string) (string, error) {
	g := m.git.WithEnv("GIT_AUTHOR_NAME="+author.name, "GIT_AUTHOR_EMAIL="+author.email)
	if author.date != "" {
		g = g.WithEnv("GIT_AUTHOR_DATE=" + author.date)
	}
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	var sha bytes.Buffer
	message = strings.TrimSpace(controls.ReplaceAllString(message, "")) + "\n"
	err := g.Stream(ctx, strings.NewReader(message), &sha, args...)
	return strings.TrimSpace(sha.String()), err
}
