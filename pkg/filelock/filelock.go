// Package filelock lets one process at a time work in a place. It excludes
// goroutines as well: every open file is a holder of its own.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrHeld is a file that another holds.
var ErrHeld = errors.New("held by another")

// Closing the file lets go of it, and so does the end of the process, however
// it ends. But what a killed process was just starting holds its files until it
// runs its own program: for that long Take waits.
const (
	patience = time.Second
	pause    = 20 * time.Millisecond
)

// Try holds the file at path until it is closed, and makes it if there is none.
// ErrHeld if another holds it.
func Try(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
}

// Take is Try after a process that may just have been killed.
func Take(path string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f, err := Wait(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return Try(path)
	}
	return f, err
}

// Wait is Try until the file is free or ctx ends.
func Wait(ctx context.Context, path string) (*os.File, error) {
	// The kernel's own wait cannot be ended by a context.
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		f, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
