package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// bwrapArgs returns the command line up to the command. The environment is inherited
// and not set by --setenv, since ps shows arguments. Later mounts hide earlier ones. The arguments name the
// files in copies by their descriptors, from firstCopy on.
func (s Sandbox) bwrapArgs(c Command, own ownDirs, cache string) (args []string, copies []*os.File) {
	args = []string{s.bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--info-fd", "3", "--cap-drop", "ALL"}
	if s.userns {
		args = append(args, "--unshare-user", "--disable-userns")
	}
	for _, dir := range system() {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	for _, path := range etc() {
		if target, err := os.Readlink(path); err == nil && !filepath.IsAbs(target) {
			args = append(args, "--symlink", target, path)
		} else if file := small(path); file != nil {
			args = append(args, "--file", strconv.Itoa(firstCopy+len(copies)), path)
			copies = append(copies, file)
		} else {
			args = append(args, "--ro-bind-try", path, path)
		}
	}
	args = append(args, "--proc", "/proc")
	for _, path := range []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"} {
		args = append(args, "--ro-bind-try", path, path) // root of a user namespace may write to them if it is root outside
	}
	args = append(args, "--dev", "/dev", "--size", strconv.Itoa(sharedMemory), "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
		"--bind", own.tmp, "/tmp")
	home := lookup(c.Env, "HOME")
	if filepath.IsAbs(home) && filepath.Clean(home) != "/" {
		args = append(args, "--bind", own.home, home)
	}
	var within []string
	for _, path := range s.readable(c) {
		if s.hides(path) {
			within = append(within, path)
			continue
		}
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range s.hidden {
		// Only where something above it is shown.
		if info, err := os.Stat(path); err == nil && info.IsDir() && s.shows(c, path) {
			args = append(args, "--tmpfs", path)
		}
	}
	for _, path := range within {
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range c.Writable {
		args = append(args, "--bind-try", path, path)
	}
	args = append(args, "--bind", cache, cacheAt)
	if own.socket != "" {
		args = append(args, "--ro-bind", own.socket, own.socket)
	}
	if c.Dir != "" {
		args = append(args, "--bind", c.Dir, c.Dir, "--chdir", c.Dir)
	}
	for i, m := range c.Mounts {
		args = append(args, "--ro-bind", m.From, m.At)
		for j, name := range m.Private {
			args = append(args, "--bind-try", own.private(i, j), filepath.Join(m.At, name))
		}
	}
	return append(args, "--remount-ro", "/", "--"), copies
}

// firstCopy is the descriptor of the first file that bubblewrap copies: 3 is that of its info.
const firstCopy = 4

// maxCopy is the size up to which a file is copied.
const maxCopy = 256 << 10

// small opens a small regular file, to copy it into the sandbox. A copy is quicker than a mount, and
// /etc has some thirty such files. It returns nil for any other path, which the caller mounts.
func small(path string) *os.File {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCopy {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	return file
}

// sharedMemory is the size of /dev/shm in bytes.
const sharedMemory = 256 << 20

// shows reports whether the command is shown a directory above the path.
func (s Sandbox) shows(c Command, path string) bool {
	for _, shown := range append(s.readable(c), system()...) {
		if within(real(path), real(shown)) {
			return true
		}
	}
	return false
}

// infoPipe is the pipe to which bubblewrap writes the id of its child. The child
// leads the command's session. A signal to its group reaches the command and not
// bubblewrap, whose end would kill all at once.
type infoPipe struct{ r, w *os.File }

func newInfoPipe() (*infoPipe, error) {
	r, w, err := os.Pipe()
	return &infoPipe{r, w}, err
}

// childPid returns the child's id, or otherwise if bubblewrap failed before it had
// one.
func (p *infoPipe) childPid(otherwise int) int {
	_ = p.w.Close()
	_ = p.r.SetReadDeadline(time.Now().Add(5 * time.Second))
	var info struct {
		ChildPid int `json:"child-pid"`
	}
	if err := json.NewDecoder(p.r).Decode(&info); err != nil || info.ChildPid <= 1 {
		return otherwise
	}
	return info.ChildPid
}

func (p *infoPipe) close() {
	_ = p.r.Close()
	_ = p.w.Close()
}
