package host

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// LockedRefs is the lock of a repository's refs. Its holder may read refs and then move
// them. Unlock it once.
type LockedRefs struct {
	h    *Host
	name string
	repo store.Repo
}

// LockRefs waits for the lock of the repository's refs.
func (h *Host) LockRefs(r store.Repo) LockedRefs {
	r.Refs.Lock()
	return LockedRefs{h: h, name: r.FullName(), repo: r}
}

// Unlock gives the lock back.
func (l LockedRefs) Unlock() { l.repo.Refs.Unlock() }

// Follow brings the open pull requests up to the branches. It records new commits,
// merges that were pushed, and a merge that a killed forge had made. It closes pull
// requests whose branch is deleted. Of new commits it requests the review of code owners.
// The actor moved the branches, 0 if unknown.
func (h *Host) Follow(ctx context.Context, name string, actor int64) error {
	r, ok := h.Store.Load().Repo(name)
	if !ok {
		return ErrNotFound
	}
	refs := h.LockRefs(r)
	defer refs.Unlock()
	return refs.Follow(ctx, actor)
}

// Follow is Host.Follow under the lock.
func (l LockedRefs) Follow(ctx context.Context, actor int64) error {
	git := l.h.Repos.Repo(l.name)
	refs, err := git.Refs(ctx)
	if err != nil {
		return err
	}
	r, _ := l.h.Store.Load().Repo(l.name)
	if upToDate(r, refs) {
		return nil
	}
	for _, i := range r.Issues {
		if !i.Open() {
			continue
		}
		merged, err := unrecordedMerge(ctx, git, i, refs)
		if err != nil {
			return err
		}
		if head, ok := refs[i.Pull.HeadRef()]; ok && refs[pullRef(i.Number)] != head {
			if _, err := git.Run(ctx, "update-ref", pullRef(i.Number), head); err != nil {
				return err
			}
		}
		owners, err := l.h.ownersOfMoved(ctx, r, *i.Pull, refs)
		if err != nil {
			return err
		}
		if err := l.h.followOne(l.name, i.Number, refs, merged, actor, owners); err != nil {
			return err
		}
	}
	return nil
}

// pullRef returns the ref that names the head of a pull request after its branch is
// deleted.
func pullRef(number int64) string { return "refs/pull/" + strconv.FormatInt(number, 10) + "/head" }

// upToDate reports whether the open pull requests are at the commits of their branches.
func upToDate(r store.Repo, refs map[string]string) bool {
	for _, i := range r.Issues {
		if i.Open() && (refs[i.Pull.HeadRef()] != i.Pull.HeadSHA || refs[i.Pull.BaseRef()] != i.Pull.BaseSHA ||
			refs[pullRef(i.Number)] != i.Pull.HeadSHA) {
			return false
		}
	}
	return true
}

// unrecordedMerge returns the commit that merged the open pull request, "" if none did.
func unrecordedMerge(ctx context.Context, git bare.Repo, i store.Issue, refs map[string]string) (string, error) {
	base, ok := refs[i.Pull.BaseRef()]
	if !ok {
		return "", nil
	}
	if m := i.Pull.Merging; m != nil {
		if in, err := git.Contains(ctx, base, m.SHA); in || err != nil {
			return m.SHA, err
		}
	}
	if base == i.Pull.BaseSHA {
		return "", nil
	}
	before, err := git.Contains(ctx, i.Pull.BaseSHA, i.Pull.HeadSHA)
	if before || err != nil {
		return "", err
	}
	if in, err := git.Contains(ctx, base, i.Pull.HeadSHA); !in || err != nil {
		return "", err
	}
	return base, nil
}

// ownersOfMoved returns the code owners of a pull request that is no draft, if its head has
// moved. It returns none of a change that is too large to read, which would else stop all
// that follows. A review that is demanded stays so.
func (h *Host) ownersOfMoved(ctx context.Context, r store.Repo, p store.Pull, refs map[string]string) ([][]store.Account, error) {
	head, base := refs[p.HeadRef()], refs[p.BaseRef()]
	if p.Draft || head == "" || base == "" || head == p.HeadSHA {
		return nil, nil
	}
	p.HeadSHA, p.BaseSHA = head, base
	owners, err := h.CodeOwners(ctx, r, &p)
	if errors.Is(err, git.ErrTooLarge) {
		return nil, nil
	}
	return owners, err
}

func (h *Host) followOne(name string, number int64, refs map[string]string, mergeSHA string, actor int64, owners [][]store.Account) error {
	return h.Store.Change(func(tx *store.Tx) error {
		r, _ := tx.State.Repo(name)
		i, ok := r.Issues.Get(number)
		if !ok || !i.Open() {
			return nil
		}
		p := *i.Pull
		head, hasHead := refs[p.HeadRef()]
		base, hasBase := refs[p.BaseRef()]
		tx.By = actor
		switch {
		case mergeSHA != "":
			if p.Merging != nil {
				actor = p.Merging.By
				tx.By = actor
			}
			putMerged(tx, r, i, mergeSHA, actor)
			return nil
		case !hasHead || !hasBase:
			i = tx.Closed(i, actor, "")
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
			i.Updated = tx.Now
			dismissStale(tx, r, i)
			i = h.AskOwners(r, i, owners)
		}
		tx.Put(store.Entry{Repo: name, Issue: &i})
		return nil
	})
}

// putMerged puts the pull request as merged, and closes the issues that its
// description says it closes.
func putMerged(tx *store.Tx, r store.Repo, i store.Issue, sha string, by int64) {
	p := *i.Pull
	if p.Merging != nil { // a merge by a push is recorded as the push
		kind := "pr_merge"
		if p.Queued != nil {
			kind = "merge_queue_merge"
		}
		tx.RecordPush(r.FullName(), store.Push{Ref: p.BaseRef(), Before: p.BaseSHA, After: sha, Kind: kind, Actor: by})
	}
	p.Queued = nil
	p.Merged, p.MergedBy = &tx.Now, by
	p.MergeSHA, p.Merging = sha, nil
	i.Pull = &p
	tx.Touch(r.FullName(), tx.Closed(i, by, ""))
	for _, number := range r.ClosedBy(i) {
		if other, ok := r.Issues.Get(number); ok && other.State == "open" && other.Pull == nil {
			tx.Touch(r.FullName(), tx.Closed(other, by, "completed"))
		}
	}
}

// dismissStale dismisses the approvals of an earlier head if the base branch demands it.
func dismissStale(tx *store.Tx, r store.Repo, i store.Issue) {
	for _, w := range rules.Stale(r, i) {
		w.State = "DISMISSED"
		tx.Put(store.Entry{Repo: r.FullName(), Review: &w})
	}
}

// PullRequest returns a pull request and its repository, after it has followed its
// branches.
func (h *Host) PullRequest(ctx context.Context, name string, number int64) (store.Repo, store.Issue, error) {
	if err := h.Follow(ctx, name, 0); err != nil {
		return store.Repo{}, store.Issue{}, fmt.Errorf("read %s: %w", strings.ToLower(name), err)
	}
	r, _ := h.Store.Load().Repo(name)
	i, ok := r.Issues.Get(number)
	if !ok || i.Pull == nil {
		return store.Repo{}, store.Issue{}, ErrNotFound
	}
	return r, i, nil
}
