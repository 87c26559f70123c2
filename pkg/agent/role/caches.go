package role

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// Caches are the directories of the caches that confined tools fill, such as modules and
// compiled packages. The writer of a cache decides what the next run that reads it
// compiles and tests. So brains share one by repository, which no check reads, and checks
// one by repository and instance. An issue can spoil its own, and no other's.
//
//	DIR/brain/REPO             filled by brains
//	DIR/checks/REPO-INSTANCE   filled by tests and other checks
type Caches struct{ Dir string }

// keepCaches is how long a cache stays that is not used.
const keepCaches = 7 * 24 * time.Hour

func (c Caches) brain(a brain.Assignment) string { return c.at("brain", repoOf(a)) }

func (c Caches) checks(a brain.Assignment) string { return c.at("checks", repoOf(a)+"\x00"+a.Instance) }

// at returns a directory, marked as used now; empty if there are no caches.
func (c Caches) at(kind, key string) string {
	if c.Dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	dir := filepath.Join(c.Dir, kind, hex.EncodeToString(sum[:8]))
	_ = os.Chtimes(dir, time.Time{}, time.Now()) // it need not be there yet
	return dir
}

// Sweep removes the caches that nobody used for a week.
func (c Caches) Sweep() error {
	dirs, err := filepath.Glob(filepath.Join(c.Dir, "*", "*"))
	for _, dir := range dirs {
		if info, serr := os.Stat(dir); serr == nil && time.Since(info.ModTime()) > keepCaches {
			err = errors.Join(err, sandbox.RemoveAll(dir))
		}
	}
	return err
}

// repoOf names the repository of an assignment.
func repoOf(a brain.Assignment) string {
	if a.Issue.Repo == "" {
		return a.Instance // an instance that is on no forge is its own
	}
	return a.Issue.Repo
}
