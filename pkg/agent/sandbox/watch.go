package sandbox

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

// The pauses between two looks at what a command uses. A look at directories takes
// longer, and costs at most a twentieth of the time.
const (
	lookPause = 100 * time.Millisecond
	diskPause = time.Second
	diskShare = 20
)

// watch looks at what a command and its descendants use together, until stop is
// closed. It returns a channel that gets the first limit that is passed, and one
// that is closed at the end.
func (l Limits) watch(root int, dirs []string, stop <-chan struct{}) (passed chan Limit, done chan struct{}) {
	passed, done = make(chan Limit, 1), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(lookPause)
		defer tick.Stop()
		disk := time.Now().Add(diskPause)
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			limit := l.processes(root)
			if limit == "" && (l.Disk > 0 || l.Memory > 0) && time.Now().After(disk) {
				began := time.Now()
				limit = l.files(root, dirs)
				disk = time.Now().Add(max(diskPause, diskShare*time.Since(began)))
			}
			if limit != "" {
				passed <- limit
				return
			}
		}
	}()
	return passed, done
}

// processes returns the limit of memory or processes that is passed, or "".
func (l Limits) processes(root int) Limit {
	if l.Memory == 0 && l.Processes == 0 {
		return ""
	}
	all := confine.Below(root)
	if l.Processes > 0 && len(all) > l.Processes {
		return Processes
	}
	if l.Memory > 0 && memory(all, l.Memory) > l.Memory {
		return Memory
	}
	return ""
}

// memory returns the bytes of memory that processes hold together, or an upper bound of
// them that is at most enough.
func memory(pids []int, enough int64) (sum int64) {
	for _, of := range []func(pid int) int64{confine.MemoryAtMost, confine.Memory} {
		sum = 0
		for _, pid := range pids {
			sum += of(pid)
		}
		if sum <= enough {
			break
		}
	}
	return sum
}

// files returns the limit that files pass, with those that have no name any more, or "".
func (l Limits) files(root int, dirs []string) Limit {
	all := confine.Below(root)
	unlinked, disk := confine.Unlinked(all, dirs)
	if l.Memory > 0 {
		if unlinked += confine.SharedMemory(root); unlinked+memory(all, l.Memory-unlinked) > l.Memory {
			return Memory
		}
	}
	if l.Disk > 0 && disk+used(dirs, l.Disk) > l.Disk {
		return Disk
	}
	return ""
}

// used returns the bytes that directories hold, or any number above enough. A path that the
// system does not take in one piece hides files: it counts as more than enough.
func used(dirs []string, enough int64) (sum int64) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
			if errors.Is(err, syscall.ENAMETOOLONG) {
				sum = max(sum, enough+1)
				return filepath.SkipAll
			}
			if err != nil {
				return nil
			}
			if info, err := entry.Info(); err == nil {
				if sum += occupied(info); sum > enough {
					return filepath.SkipAll
				}
			}
			return nil
		})
	}
	return sum
}
