// Package filelock locks a file exclusively. A lock belongs to the open file, so it
// excludes other goroutines of the process as well as other processes.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrHeld is returned if the file is locked already.
var ErrHeld = errors.New("held by another")

// The lock ends when the file is closed, or when the process ends in any way. A
// child that a killed process was just starting inherits the file until it runs its
// own program. Take waits that long.
const (
	patience = time.Second
	pause    = 20 * time.Millisecond
)

// Try locks the file at path, and creates it if there is none. The lock lasts until
// the file is closed. The error is ErrHeld if the file is locked.
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

// Lock locks the file as Try does, and waits up to a second for the child of a killed process.
func Lock(path string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f, err := Wait(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return Try(path)
	}
	return f, err
}

// Wait locks the file as soon as it is free. The error is that of ctx if it ends before.
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
