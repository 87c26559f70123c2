package filelock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/filelock"
)

func TestAFileIsHeldByOneUntilItIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, lock := range map[string]func(string) error{
		"tried": func(path string) error { _, err := filelock.Try(path); return err },
		"taken": func(path string) error { _, err := filelock.Lock(path); return err },
	} {
		if err := lock(path); !errors.Is(err, filelock.ErrHeld) {
			t.Errorf("%s while it was held: %v", name, err)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := filelock.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestWhoWaitsGetsItNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		f, err := filelock.Wait(t.Context(), path)
		if err == nil {
			err = f.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	why := errors.New("the lease lapsed")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := filelock.Wait(ctx, path); !errors.Is(err, why) {
		t.Errorf("err = %v", err)
	}
}

func TestAFileThatCannotBeMadeIsNotHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "lock")
	if _, err := filelock.Wait(t.Context(), path); err == nil || errors.Is(err, filelock.ErrHeld) {
		t.Errorf("err = %v", err)
	}
}
