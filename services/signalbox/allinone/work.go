package allinone

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/service/embedded"
)

// keptFor is how long the work trees and caches of a data directory, and the data of a run of
// `resolve`, are kept after the last start on them.
const keptFor = 60 * 24 * time.Hour

// ResolveDirs returns the directory that has the data of runs of `resolve` without --data, a
// directory for each repository.
func ResolveDirs() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for the log, give one with --data: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "signalbox", "resolve"), nil
}

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
	removeOld(all, "", dir, now, log)
	return held, nil
}

// removeOld removes the directories below all that no process uses, and on which none started
// for long. Locked is the part of each that a process locks; "" is the directory itself. It
// leaves alone the directory own, and those that were never locked.
func removeOld(all, locked, own string, now time.Time, log *slog.Logger) {
	entries, _ := os.ReadDir(all) // without the directory nothing is old
	for _, entry := range entries {
		dir := filepath.Join(all, entry.Name())
		info, err := os.Stat(filepath.Join(dir, locked, "signalbox.lock"))
		if err != nil || dir == own || now.Sub(info.ModTime()) < keptFor {
			continue
		}
		if err := RemoveUnused(dir, locked); err != nil && log != nil {
			log.Debug("a directory of long ago is kept", "dir", dir, "error", err)
		}
	}
}

// RemoveUnused removes a directory that no process uses: where one has locked its part, the
// error is embedded.ErrLocked. Directories may be read-only, as caches of Go's modules are.
func RemoveUnused(dir, part string) error {
	lock, err := embedded.Hold(filepath.Join(dir, part))
	if err != nil {
		return err
	}
	defer lock.Close()
	return sandbox.RemoveAll(dir)
}
