package allinone

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/pkg/service/embedded"
)

// workLasts is how long the work trees and caches of a data directory are kept after its last
// start. They are made again where they are missing.
const workLasts = 60 * 24 * time.Hour

// WorkDirs returns the directory that has the work trees and caches of each data directory.
func WorkDirs() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "signalbox", "work"), err
}

// workDir returns the directory of the work trees. It is not below data, which may
// lie in a repository: tools would use its go.work or package.json.
func workDir(data string) string {
	all, err := WorkDirs()
	if err != nil {
		return filepath.Join(data, "work")
	}
	abs, err := filepath.Abs(data)
	if err != nil {
		abs = data
	}
	key := sha256.Sum256([]byte(abs))
	return filepath.Join(all, hex.EncodeToString(key[:6]))
}

// holdWork makes the directory of the work trees and locks it, so that nobody removes it until
// it is closed. It removes those of other data directories that were not started for long.
func holdWork(dir string, now time.Time, log *slog.Logger) (io.Closer, error) {
	held, err := embedded.Hold(dir)
	if err != nil {
		return nil, err
	}
	locks, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "signalbox.lock")) // the pattern is none of a user
	for _, lock := range locks {
		other := filepath.Dir(lock)
		info, err := os.Stat(lock)
		if err != nil || other == dir || now.Sub(info.ModTime()) < workLasts {
			continue
		}
		if err := RemoveWork(other); err != nil && log != nil {
			log.Debug("work trees of long ago are kept", "dir", other, "error", err)
		}
	}
	return held, nil
}

// RemoveWork removes a directory of work trees, or of a log, that no process uses: where one
// does, the error is embedded.ErrLocked. Directories may be read-only, as caches of Go's
// modules are.
func RemoveWork(dir string) error {
	lock, err := embedded.Hold(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a directory
		}
		return err
	})
	if failed := os.RemoveAll(dir); failed != nil {
		return errors.Join(failed, err)
	}
	return nil
}
