package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// follow brings the open pull requests up to the branches: new commits, a
// merge that was pushed or that a killed forge had just made, a deleted
// branch (which closes). The actor is who moved the branches, 0 when that is not known.
func (f *Forge) follow(ctx context.Context, name string, actor int64) error {
	r, ok := f.state.Load().repo(name)
	if !ok {
		return errNotFound
	}
	r.refs.Lock()
	defer r.refs.Unlock()
	return f.followLocked(ctx, name, actor)
}

func (f *Forge) followLocked(ctx context.Context, name string, actor int64) error {
	refs, err := f.refs(ctx, name)
	if err != nil {
		return err
	}
	r, _ := f.state.Load().repo(name)
	if inStep(r, refs) {
		return nil
	}
	for _, i := range r.issues {
		if !i.open() {
			continue
		}
		merged, err := f.mergedBehindUs(ctx, name, i, refs)
		if err != nil {
			return err
		}
		if err := f.keepPullRef(ctx, name, i, refs); err != nil {
			return err
		}
		if err := f.followOne(name, i.Number, refs, merged, actor); err != nil {
			return err
		}
	}
	return nil
}

func (i issue) open() bool { return i.Pull != nil && i.State == "open" }

func (p pull) headRef() string { return "refs/heads/" + p.Head }
func (p pull) baseRef() string { return "refs/heads/" + p.Base }

func pullRef(number int64) string { return "refs/pull/" + strconv.FormatInt(number, 10) + "/head" }

// inStep tells whether the open pull requests say what the branches say.
func inStep(r repo, refs map[string]string) bool {
	for _, i := range r.issues {
		if i.open() && (refs[i.Pull.headRef()] != i.Pull.HeadSHA || refs[i.Pull.baseRef()] != i.Pull.BaseSHA ||
			refs[pullRef(i.Number)] != i.Pull.HeadSHA) {
			return false
		}
	}
	return true
}

// mergedBehindUs is the commit that merged the pull request, if one did and
// nobody has written it down.
func (f *Forge) mergedBehindUs(ctx context.Context, name string, i issue, refs map[string]string) (string, error) {
	base, ok := refs[i.Pull.baseRef()]
	if !ok {
		return "", nil
	}
	if m := i.Pull.Merging; m != nil {
		if in, err := f.contains(ctx, name, base, m.SHA); in || err != nil {
			return m.SHA, err
		}
	}
	if base == i.Pull.BaseSHA {
		return "", nil
	}
	was, err := f.contains(ctx, name, i.Pull.BaseSHA, i.Pull.HeadSHA)
	if was || err != nil {
		return "", err
	}
	if in, err := f.contains(ctx, name, base, i.Pull.HeadSHA); !in || err != nil {
		return "", err
	}
	return base, nil
}

// keepPullRef lets refs/pull/N/head follow the head branch for as long as
// there is one.
func (f *Forge) keepPullRef(ctx context.Context, name string, i issue, refs map[string]string) error {
	head, ok := refs[i.Pull.headRef()]
	if !ok || refs[pullRef(i.Number)] == head {
		return nil
	}
	_, err := f.git(name).Run(ctx, "update-ref", pullRef(i.Number), head)
	return err
}

func (f *Forge) followOne(name string, number int64, refs map[string]string, mergeSHA string, actor int64) error {
	return f.change(func(tx *tx) error {
		r, _ := tx.state.repo(name)
		i, ok := r.issues.get(number)
		if !ok || !i.open() {
			return nil
		}
		p := *i.Pull
		head, hasHead := refs[p.headRef()]
		base, hasBase := refs[p.baseRef()]
		switch {
		case mergeSHA != "":
			if p.Merging != nil {
				actor = p.Merging.By
			}
			tx.merged(r, i, mergeSHA, actor)
			return nil
		case !hasHead || !hasBase:
			i = i.closed(tx, actor, "")
		}
		moved := hasHead && head != p.HeadSHA
		if hasHead {
			p.HeadSHA = head
		}
		if hasBase {
			p.BaseSHA = base
		}
		i.Pull = &p
		if moved {
			i.Updated = tx.now
			tx.dismissStale(r, i)
		}
		tx.put(entry{Repo: name, Issue: &i})
		return nil
	})
}

// merged writes down that the pull request is merged, and closes the issues
// its description says it closes.
func (t *tx) merged(r repo, i issue, sha string, by int64) {
	p := *i.Pull
	if p.Merging != nil { // otherwise it was pushed, and is on record as that
		t.moved(r.fullName(), push{Ref: p.baseRef(), Before: p.BaseSHA, After: sha, Kind: "pr_merge", Actor: by})
	}
	p.Merged, p.MergedBy, p.MergeSHA, p.Merging = &t.now, by, sha, nil
	i.Pull = &p
	t.touch(r.fullName(), i.closed(t, by, ""))
	if p.Base != r.Branch {
		return
	}
	for _, match := range closingPattern.FindAllStringSubmatch(i.Body, -1) {
		number, _ := strconv.ParseInt(match[1], 10, 64)
		if other, ok := r.issues.get(number); ok && other.State == "open" && other.Pull == nil {
			t.touch(r.fullName(), other.closed(t, by, "completed"))
		}
	}
}

// dismissStale ends the approvals of an earlier head, where the base branch
// asks for that.
func (t *tx) dismissStale(r repo, i issue) {
	if d, _ := r.demands(i.Pull.Base); !d.DismissStale {
		return
	}
	for _, w := range r.reviewsOf(i.Number) {
		if w.State == "APPROVED" && w.Commit != i.Pull.HeadSHA {
			w.State = "DISMISSED"
			t.put(entry{Repo: r.fullName(), Review: &w})
		}
	}
}

func (i issue) closed(t *tx, by int64, reason string) issue {
	i.State, i.Reason, i.Closed, i.ClosedBy, i.Updated = "closed", reason, &t.now, by, t.now
	return i
}

// pulled finds a pull request as the branches have it now.
func (f *Forge) pulled(ctx context.Context, name string, number int64) (repo, issue, error) {
	if err := f.follow(ctx, name, 0); err != nil {
		return repo{}, issue{}, fmt.Errorf("read %s: %w", strings.ToLower(name), err)
	}
	r, _ := f.state.Load().repo(name)
	i, ok := r.issues.get(number)
	if !ok || i.Pull == nil {
		return repo{}, issue{}, errNotFound
	}
	return r, i, nil
}
