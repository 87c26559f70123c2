package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrLocked is a directory that another process works in.
var ErrLocked = errors.New("in use by another process")

// lockDir makes dir and claims it for as long as the file is open: the kernel
// lets go of it however the process ends.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "signalbox.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%s is %w%s; stop it or choose another directory", dir, ErrLocked, holder(f))
	}
	if err == nil {
		err = errors.Join(f.Truncate(0), writePID(f))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder says which process holds the lock, if it has said so itself.
func holder(f *os.File) string {
	b, _ := io.ReadAll(io.LimitReader(f, 32))
	if pid := strings.TrimSpace(string(b)); pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}
