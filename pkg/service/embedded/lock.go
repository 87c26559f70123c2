package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/filelock"
)

// ErrLocked reports that another process uses the directory.
var ErrLocked = errors.New("in use by another process")

// lockDir creates and locks dir. The lock ends when the file is closed, and with the
// process in any case.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "signalbox.lock")
	f, err := filelock.Lock(path)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s is %w%s; stop it or choose another directory", dir, ErrLocked, holder(path))
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Hold locks dir as Start does. The error names the process that holds the lock.
// Close unlocks it.
func Hold(dir string) (io.Closer, error) { return lockDir(dir) }

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder describes the process that holds the lock, if it has written its id.
func holder(path string) string {
	b, _ := os.ReadFile(path)
	if pid := strings.TrimSpace(string(b)); pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}
