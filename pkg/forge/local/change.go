package local

import "time"

// tx collects the entries of one change.
type tx struct {
	state   *state // before the change
	now     time.Time
	lastID  int64
	entries []entry
}

func (t *tx) id() int64 {
	t.lastID++
	return t.lastID
}

func (t *tx) put(e entry) { t.entries = append(t.entries, e) }

// touch marks the issue as changed now.
func (t *tx) touch(repo string, i issue) {
	i.Updated = t.now
	t.put(entry{Repo: repo, Issue: &i})
}

// change decides on the newest state, one change after the other, makes the
// decision durable and then visible. An error of decide changes nothing.
func (f *Forge) change(decide func(*tx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.state.Load()
	t := &tx{state: before, now: f.now(), lastID: before.lastID}
	if err := decide(t); err != nil || len(t.entries) == 0 {
		return err
	}
	if err := f.journal.append(t.entries); err != nil {
		return err
	}
	f.state.Store(before.with(t.entries))
	return nil
}
