package allinone

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/environment"
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

// holdWork makes the directory of the work trees and locks it, so that no process removes it until
// the caller closes the lock. If the directory is one of those below all, holdWork removes the others
// there that nothing started for long. Any other parent, such as a data directory, it leaves alone.
func holdWork(all, dir string, now time.Time, log *slog.Logger) (io.Closer, error) {
	held, err := embedded.Hold(dir)
	if err != nil || filepath.Dir(dir) != all {
		return held, err
	}
	locks, _ := filepath.Glob(filepath.Join(all, "*", "signalbox.lock")) // the pattern is none of a user
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
	return environment.Remove(dir)
}
