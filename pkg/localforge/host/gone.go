package host

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// GoneError means that an issue is not here any more.
type GoneError struct{ store.Gone }

func (e *GoneError) Error() string {
	if e.Repo == 0 {
		return "this issue was deleted"
	}
	return fmt.Sprintf("this issue was transferred to %d of the repository %d", e.Number, e.Repo)
}

// Unwrap returns ErrNotFound, for whoever makes no difference.
func (e *GoneError) Unwrap() error { return ErrNotFound }

// DeleteIssue deletes an issue with its comments, as its repository's administrators may.
func (h *Host) DeleteIssue(name string, number int64) error {
	return h.Store.Change(func(t *store.Tx) error {
		r, i, err := issueOf(t, name, number)
		if err == nil {
			t.Put(store.Entry{Repo: r.FullName(), Issue: gone(t, i, store.Gone{})})
		}
		return err
	})
}

// TransferIssue moves an issue with its comments to another repository. It returns the
// number that it has there.
func (h *Host) TransferIssue(name string, number int64, to string) (there int64, err error) {
	err = h.Store.Change(func(t *store.Tx) error {
		r, i, err := issueOf(t, name, number)
		if err != nil {
			return err
		}
		other, ok := t.State.Repo(to)
		if !ok || other.ID == r.ID {
			return fmt.Errorf("transfer to %s: %w", to, ErrNotFound)
		}
		there = int64(len(other.Issues)) + 1
		moved := i
		moved.ID, moved.Number, moved.Updated, moved.Labels, moved.Labelled = t.ID(), there, t.Now, nil, nil
		t.Put(store.Entry{Repo: other.FullName(), Issue: &moved})
		for _, m := range r.CommentsOn(number) {
			m.ID, m.Issue = t.ID(), there
			t.Put(store.Entry{Repo: other.FullName(), Comment: &m})
		}
		t.Put(store.Entry{Repo: r.FullName(), Issue: gone(t, i, store.Gone{Repo: other.ID, Number: there})})
		return nil
	})
	return there, err
}

// issueOf returns an issue that is there and no pull request.
func issueOf(t *store.Tx, name string, number int64) (store.Repo, store.Issue, error) {
	r, _ := t.State.Repo(name)
	i, ok := r.Issues.Get(number)
	if !ok || i.Pull != nil || i.Gone != nil {
		return r, i, fmt.Errorf("issue %d of %s: %w", number, name, ErrNotFound)
	}
	return r, i, nil
}

// gone returns the issue as one that is not here any more. Its number stays taken.
func gone(t *store.Tx, i store.Issue, to store.Gone) *store.Issue {
	i.Gone, i.State, i.Updated = &to, "closed", t.Now
	return &i
}
