package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func notMergeable(message string) *failure {
	return &failure{status: http.StatusMethodNotAllowed, message: message}
}

// mergeRequest is how a client wants a pull request merged.
type mergeRequest struct {
	Title   *string `json:"commit_title"`   // nil for GitHub's
	Message *string `json:"commit_message"` // nil for GitHub's
	SHA     string
	Method  string `json:"merge_method"`
}

// mergePull merges without a work tree. The decision is in the journal before the base
// branch moves, so a forge that is killed in between knows the merge as one.
func mergePull(c *call) (int, any, error) {
	var in mergeRequest
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if !slices.Contains([]string{"", "merge", "squash", "rebase"}, in.Method) {
		return 0, nil, invalid("PullRequest", "merge_method", "invalid")
	}
	in.Method = cmp.Or(in.Method, "merge")
	refs := c.Forge.LockRefs(c.Repo)
	defer refs.Unlock()
	if err := refs.Follow(c.Context(), 0); err != nil {
		return 0, nil, err
	}
	c.Refresh()
	i, err := c.Issue(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	if err := c.mergeable(i, in); err != nil {
		return 0, nil, err
	}
	sha, err := c.mergeCommit(i, in)
	if err != nil {
		return 0, nil, err
	}
	if err := c.land(refs, i, sha); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"sha": sha, "merged": true, "message": "Pull Request successfully merged"}, nil
}

// mergeable returns the refusal if the pull request cannot be merged in this way now.
func (c *call) mergeable(i store.Issue, in mergeRequest) error {
	p := i.Pull
	switch {
	case p == nil:
		return host.ErrNotFound
	case p.Draft:
		return notMergeable("Pull Request is still a draft")
	case !i.Open():
		return notMergeable("Pull Request is not mergeable")
	case in.SHA != "" && in.SHA != p.HeadSHA:
		return &failure{status: http.StatusConflict, message: "Head branch was modified. Review and try the merge again."}
	}
	if why := rules.MethodRefused(c.Repo, p.Base, in.Method); why != "" {
		return notMergeable(why)
	}
	about, err := c.Git().Compare(c.Context(), p.BaseSHA, p.HeadSHA)
	if err != nil {
		return err
	}
	judge, err := c.Forge.Judge(c.Context(), c.Repo, i)
	if err != nil {
		return err
	}
	if why := judge.Unmet(); len(why) > 0 {
		return notMergeable(strings.Join(why, " "))
	}
	if d, _ := rules.Of(c.Repo, p.Base); d.Strict && about.Behind > 0 {
		return notMergeable("Head branch is out of date. Review and try the merge again.")
	}
	return nil
}

// mergeCommit makes the commit that the base branch is to move to.
func (c *call) mergeCommit(i store.Issue, in mergeRequest) (sha string, err error) {
	ctx, p := c.Context(), i.Pull
	git := c.Git().At(c.Forge.Store.Now())
	switch in.Method {
	case "rebase":
		sha, err = git.Rebase(ctx, p.BaseSHA, p.HeadSHA)
	case "squash":
		author, _ := c.State.Accounts.Get(i.Author)
		var body string
		if body, err = squashMessage(ctx, git, p); err != nil {
			return "", err
		}
		title := fmt.Sprintf("%s (#%d)", i.Title, i.Number)
		sha, err = git.Merge(ctx, p.BaseSHA, p.HeadSHA, signature(author), in.message(title, body), p.BaseSHA)
	default:
		title := fmt.Sprintf("Merge pull request #%d from %s/%s", i.Number, c.Repo.Owner, p.Head)
		sha, err = git.Merge(ctx, p.BaseSHA, p.HeadSHA, signature(c.User), in.message(title, i.Title), p.BaseSHA, p.HeadSHA)
	}
	switch {
	case errors.Is(err, bare.ErrConflict):
		return "", notMergeable("Pull Request has merge conflicts")
	case errors.Is(err, bare.ErrMergeCommit):
		return "", notMergeable("This branch can't be rebased")
	}
	return sha, err
}

func signature(a store.Account) bare.Signature {
	return bare.Signature{Name: a.Login, Email: a.Email()}
}

// message returns the message of the commit: the client's, or the one given.
func (in mergeRequest) message(title, body string) string {
	return deref(in.Title, title) + "\n\n" + deref(in.Message, body)
}

// squashMessage lists the messages of the commits that are squashed. Of a single commit
// it is the body.
func squashMessage(ctx context.Context, git bare.Repo, p *store.Pull) (string, error) {
	commits, err := git.Commits(ctx, "--reverse", p.HeadSHA, "^"+p.BaseSHA)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, one := range commits {
		if len(commits) == 1 {
			_, body, _ := strings.Cut(one.Message, "\n")
			return strings.TrimSpace(body), nil
		}
		lines = append(lines, "* "+one.Message)
	}
	return strings.Join(lines, "\n\n"), nil
}

// land moves the base branch to the commit that merges the pull request.
func (c *call) land(refs host.LockedRefs, i store.Issue, sha string) error {
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		now, _ := r.Issues.Get(i.Number)
		p := *now.Pull
		p.Merging = &store.Merging{SHA: sha, By: c.User.ID}
		now.Pull = &p
		t.Put(store.Entry{Repo: c.Name(), Issue: &now})
		return nil
	})
	if err != nil {
		return err
	}
	// The journal has the decision, so a client that leaves now does not stop it.
	ctx := context.WithoutCancel(c.Context())
	err = c.Git().MoveRef(ctx, i.Pull.BaseRef(), sha, i.Pull.BaseSHA)
	if errors.Is(err, bare.ErrMoved) {
		return notMergeable("Base branch was modified. Review and try the merge again.")
	}
	if err != nil {
		return err
	}
	return refs.Follow(ctx, c.User.ID)
}

// updatePull merges the base into the head.
func updatePull(c *call) (int, any, error) {
	var in struct {
		Head *string `json:"expected_head_sha"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	refuse := func(message string) (int, any, error) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: message}
	}
	refs := c.Forge.LockRefs(c.Repo)
	defer refs.Unlock()
	if err := refs.Follow(c.Context(), 0); err != nil {
		return 0, nil, err
	}
	c.Refresh()
	i, err := c.Issue(c.Repo)
	if err != nil || i.Pull == nil {
		return 0, nil, host.ErrNotFound
	}
	p := i.Pull
	about, err := c.Git().Compare(c.Context(), p.BaseSHA, p.HeadSHA)
	switch {
	case err != nil:
		return 0, nil, err
	case !i.Open():
		return refuse("Pull request is closed")
	case in.Head != nil && *in.Head != p.HeadSHA:
		return refuse("expected head sha didn’t match current head ref.")
	case about.Behind == 0:
		return refuse("There are no new commits on the base branch.")
	}
	message := "Merge branch '" + p.Base + "' into " + p.Head
	git := c.Git().At(c.Forge.Store.Now())
	sha, err := git.Merge(c.Context(), p.HeadSHA, p.BaseSHA, signature(c.User), message, p.HeadSHA, p.BaseSHA)
	if errors.Is(err, bare.ErrConflict) {
		return refuse("merge conflict between base and head")
	}
	if err != nil {
		return 0, nil, err
	}
	ctx := context.WithoutCancel(c.Context())
	err = git.MoveRef(ctx, p.HeadRef(), sha, p.HeadSHA)
	if errors.Is(err, bare.ErrMoved) {
		return refuse("expected head sha didn’t match current head ref.")
	}
	if err == nil {
		err = c.recordMove(store.Push{Ref: p.HeadRef(), Before: p.HeadSHA, After: sha})
	}
	if err == nil {
		err = refs.Follow(ctx, c.User.ID)
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusAccepted, object{"message": "Updating pull request branch.", "url": c.view().IssueURL(c.Repo, i)}, nil
}
