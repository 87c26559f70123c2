package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/base/filelock"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// cleanCommand is `signalbox clean`.
type cleanCommand struct {
	Older time.Duration `name:"older-than" default:"30d" placeholder:"DURATION" help:"Remove what nothing has been written to for so long; 0s removes all that is not in use. ${default} by default."`
	Dry   bool          `name:"dry-run" env:"-" help:"List it, and remove nothing."`
}

// directory is a directory that Signalbox keeps for later.
type directory struct {
	Dir     string    `json:"dir"`
	Kind    string    `json:"kind"` // work or resolve
	Bytes   int64     `json:"bytes"`
	Used    time.Time `json:"used"` // the newest change in it
	InUse   bool      `json:"in_use"`
	Removed bool      `json:"removed"`
}

// Run removes the caches of work, and the logs of `resolve`, that were not used for long.
// The --data of `up` is never touched.
func (c cleanCommand) Run(_ context.Context, env *term.Env) error {
	if c.Older < 0 {
		return service.Usagef("--older-than %s: want a duration of 0 or more, such as 30d", c.Older)
	}
	all, err := keptHere()
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b directory) int { return a.Used.Compare(b.Used) })
	var failed []error
	var freed int64
	t := env.Table("used", "size", "kind", "directory", "cleaning")
	for _, k := range all {
		old := env.Now().Sub(k.Used) >= c.Older
		said := ""
		switch {
		case k.InUse:
			said = "in use"
		case old && c.Dry:
			said = "would be removed"
		case old:
			if err := allinone.RemoveUnused(k.Dir, k.part()); err != nil {
				failed = append(failed, err)
				break
			}
			k.Removed, said = true, "removed"
		}
		if old && !k.InUse {
			freed += k.Bytes
		}
		if env.JSON {
			if err := env.Print(k); err != nil {
				return err
			}
			continue
		}
		t.Row(env.Since(k.Used)+" ago", size(uint64(max(k.Bytes, 0))), k.Kind, k.Dir, said)
	}
	if !env.JSON {
		failed = append(failed, t.Print())
		verb := "removed"
		if c.Dry {
			verb = "would be removed"
		}
		env.Printf("%s %s\n", size(uint64(max(freed, 0))), verb)
	}
	return errors.Join(failed...)
}

// keptHere lists the directories of the caches, and of the logs of `resolve`.
func keptHere() ([]directory, error) {
	work, err := allinone.WorkDirs()
	if err != nil {
		return nil, fmt.Errorf("no directory of caches: %w", err)
	}
	logs, err := allinone.ResolveDirs()
	if err != nil {
		return nil, err
	}
	var all []directory
	for kind, parent := range map[string]string{"work": work, "resolve": logs} {
		entries, err := os.ReadDir(parent)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			k := directory{Dir: filepath.Join(parent, entry.Name()), Kind: kind}
			k.Bytes, k.Used = weigh(k.Dir)
			k.InUse = inUse(filepath.Join(k.Dir, k.part()))
			all = append(all, k)
		}
	}
	return all, nil
}

// part returns the part of k that a process which uses it has locked; "" is k itself.
func (k directory) part() string {
	if k.Kind == "resolve" {
		return "log"
	}
	return ""
}

// inUse reports whether a process has locked the directory.
func inUse(dir string) bool {
	file := filepath.Join(dir, lockFile)
	if _, err := os.Stat(file); err != nil {
		return false
	}
	lock, err := filelock.Lock(file) // embedded.Hold would write to it, and it would look used
	if err != nil {
		return true
	}
	return lock.Close() != nil
}

// lockFile is the file that a process which uses a directory has locked.
const lockFile = "signalbox.lock"

// weigh returns the size of the files of a directory, and when the newest was written. It
// leaves out what cannot be read.
func weigh(dir string) (bytes int64, newest time.Time) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it is left out
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // it is left out
		}
		if entry.Type().IsRegular() {
			bytes += info.Size()
		}
		if info.ModTime().After(newest) && entry.Type().IsRegular() {
			newest = info.ModTime()
		}
		return nil
	})
	return bytes, newest
}
