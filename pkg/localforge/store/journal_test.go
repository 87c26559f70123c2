package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestJournalThatCannotBeWrittenChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, _, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	change := []Entry{{Account: &Account{ID: 1, Login: "ada"}}}
	if err := j.append(change); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writable := j.file
	if j.file, err = os.Open(path); err != nil {
		t.Fatal(err)
	}
	if err := j.append(change); err == nil {
		t.Error("the first failure was not told")
	}
	// It could not be undone either, so the journal is given up.
	if err := j.append(change); !errors.Is(err, errJournal) {
		t.Errorf("after it: %v", err)
	}
	if err := writable.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the journal holds %q, %v, want %q", after, err, before)
	}
	j, s, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := s.Account("Ada"); !ok || a.ID != 1 || s.lastID != 1 {
		t.Errorf("account = %+v", a)
	}
	if err := j.close(); err != nil {
		t.Error(err)
	}
}
