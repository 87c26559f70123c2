package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Flushes returns how often the disk of dir has flushed its cache since the machine was
// started, for all processes. It returns an error if dir is on no block device or if its
// disk has no volatile cache.
func Flushes(dir string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return 0, err
	}
	number := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	device, err := filepath.EvalSymlinks(filepath.Join("/sys/dev/block", number))
	if err != nil {
		return 0, fmt.Errorf("disk flushes are not known: %s is on no block device: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(device, "partition")); err == nil {
		device = filepath.Dir(device)
	}
	if cache := readLine(filepath.Join(device, "queue/write_cache")); cache != "write back" {
		return 0, fmt.Errorf("disk flushes are not known: %s needs none and counts none, its cache is %s", filepath.Base(device), cache)
	}
	stats, err := os.ReadFile("/proc/diskstats")
	if err != nil {
		return 0, fmt.Errorf("disk flushes are not known: %w", err)
	}
	return flushes(string(stats), filepath.Base(device))
}

// flushed is the index of "flush requests completed successfully" in a line of
// /proc/diskstats: the 16th value after major, minor and name.
const flushed = 3 + 15

func flushes(stats, name string) (uint64, error) {
	for line := range strings.Lines(stats) {
		if f := strings.Fields(line); len(f) > flushed && f[2] == name {
			return strconv.ParseUint(f[flushed], 10, 64)
		}
	}
	return 0, fmt.Errorf("disk flushes are not known: /proc/diskstats does not count them for %s", name)
}

// Size returns the bytes that the files below dir take on disk. A server may write there: files
// that it deletes meanwhile are left out.
func Size(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && !d.IsDir() {
			err = unix.Lstat(path, &st)
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		sum += st.Blocks * 512
		return err
	})
	return sum, err
}
