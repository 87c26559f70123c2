package confine_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

// Each case opens a file of 1 MiB, removes its name, and looks at the growth of both sums.
func TestAFileWithoutANameCountsWhereItTakesRoom(t *testing.T) {
	const size = 1 << 20
	shm, err := os.MkdirTemp("/dev/shm", "sb")
	if err != nil {
		t.Skip("not tried: no directory in memory: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(shm) })
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shm, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		t.Skip("not tried: /dev/shm is not in memory")
	}
	for _, c := range []struct {
		name         string
		open         func() (*os.File, error)
		dirs         []string
		memory, disk int64
	}{
		{"in memory, in a directory that counts", removed(shm), []string{shm}, size, size},
		{"in memory, elsewhere", removed(shm), []string{"/proc"}, size, 0},
		{"in memory, where no directory counts", removed(shm), nil, size, 0},
		{"of memfd_create", func() (*os.File, error) {
			fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC)
			return os.NewFile(uintptr(fd), "x"), err
		}, []string{shm}, size, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory, disk := confine.Unlinked([]int{os.Getpid()}, c.dirs)
			f, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.Write(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			m, d := confine.Unlinked([]int{os.Getpid()}, c.dirs)
			if m-memory != c.memory || d-disk != c.disk {
				t.Errorf("memory grew by %d and disk by %d, want %d and %d", m-memory, d-disk, c.memory, c.disk)
			}
		})
	}
}

// removed returns a function that opens a new file in a directory and removes its name.
func removed(dir string) func() (*os.File, error) {
	return func() (*os.File, error) {
		f, err := os.Create(filepath.Join(dir, "f"))
		if err != nil {
			return nil, err
		}
		return f, os.Remove(f.Name())
	}
}
