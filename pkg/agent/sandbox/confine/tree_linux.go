package confine

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Below returns the ids of all descendants of a process.
func Below(pid int) []int {
	var all []int
	level := children(pid)
	for len(level) > 0 {
		all = append(all, level...)
		var next []int
		for _, child := range level {
			next = append(next, children(child)...)
		}
		level = next
	}
	return all
}

func children(pid int) []int {
	threads := "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks, _ := os.ReadDir(threads) // none: it has ended
	var all []int
	for _, task := range tasks {
		text, err := os.ReadFile(threads + task.Name() + "/children")
		if err != nil {
			continue // it has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// KillBelow kills all descendants of a process. It stops them first, so that none
// makes others meanwhile.
func KillBelow(pid int) {
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, child := range Below(pid) {
			_ = syscall.Kill(child, sig)
		}
	}
}

// MemoryAtMost returns an upper bound of Memory, at a fraction of its cost: memory that
// processes share counts whole for each.
func MemoryAtMost(pid int) int64 {
	own, shared := resident(pid)
	return own + shared
}

// Memory returns the bytes of memory that a process holds. Of memory that processes share it
// counts this one's part.
func Memory(pid int) int64 {
	own, shared := resident(pid)
	if shared > 0 {
		if rollup, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup"); err == nil {
			shared = field(rollup, "Pss_Shmem:")
		}
	}
	return own + shared
}

// resident returns the bytes of a process's own memory, and of memory that it may share.
func resident(pid int) (own, shared int64) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0
	}
	return field(status, "RssAnon:") + field(status, "VmSwap:"), field(status, "RssShmem:")
}

// field returns the bytes of a line "NAME: N kB".
func field(text []byte, name string) int64 {
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// Unlinked returns the bytes of the files that processes hold open and that have no name any more.
// Those of a file system in memory, memfd_create's among them, count as memory. All others count as disk.
// A file system in memory that holds one of dirs counts as disk, too, because named files in dirs do.
func Unlinked(pids []int, dirs []string) (memory, disk int64) {
	type file struct{ dev, ino uint64 }
	counted := map[uint64]bool{}
	for _, dir := range dirs {
		var stat syscall.Stat_t
		if syscall.Stat(dir, &stat) == nil {
			counted[stat.Dev] = true
		}
	}
	seen := map[file]bool{}
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd"
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended
		}
		for _, e := range entries {
			path := dir + "/" + e.Name()
			if target, err := os.Readlink(path); err != nil || !strings.HasSuffix(target, " (deleted)") {
				continue
			}
			var stat syscall.Stat_t
			if syscall.Stat(path, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFREG || seen[file{stat.Dev, stat.Ino}] {
				continue
			}
			seen[file{stat.Dev, stat.Ino}] = true
			kept := inMemory(path)
			if kept {
				memory += stat.Blocks * 512
			}
			if !kept || counted[stat.Dev] {
				disk += stat.Blocks * 512
			}
		}
	}
	return memory, disk
}

func inMemory(path string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(path, &fs) == nil && fs.Type == unix.TMPFS_MAGIC
}

// SharedMemory returns the bytes in /dev/shm as a process sees it, if that is not this process's own.
func SharedMemory(pid int) int64 {
	var its, own syscall.Stat_t
	path := "/proc/" + strconv.Itoa(pid) + "/root/dev/shm"
	if syscall.Stat(path, &its) != nil || syscall.Stat("/dev/shm", &own) == nil && its.Dev == own.Dev || !inMemory(path) {
		return 0
	}
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return 0
	}
	return int64(fs.Blocks-fs.Bfree) * fs.Bsize
}
