package host

import (
	"errors"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// ErrTaken means that another repository has the name.
var ErrTaken = errors.New("name already exists on this account")

// Rename gives a repository another name of the same owner. It fails with ErrNotFound, or
// with ErrTaken, or says what is wrong with the name.
func (h *Host) Rename(name, to string) error {
	return h.Store.Change(func(t *store.Tx) error {
		r, ok := t.State.Named(name)
		if !ok {
			return ErrNotFound
		}
		_, base, err := store.SplitName(to)
		if err != nil {
			return err
		}
		if other, ok := t.State.Named(r.Owner + "/" + base); ok && other.ID != r.ID {
			return ErrTaken
		}
		t.Put(store.Entry{Repo: r.FullName(), Renamed: base})
		return nil
	})
}

// Archive makes a repository read-only, or ends that.
func (h *Host) Archive(name string, archived bool) error {
	return h.Store.Change(func(t *store.Tx) error {
		r, ok := t.State.Named(name)
		if !ok {
			return ErrNotFound
		}
		row := r.Repository
		row.Archived = archived
		t.Put(store.Entry{Repo: r.FullName(), Repository: &row})
		return nil
	})
}
