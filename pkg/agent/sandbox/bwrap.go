package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// bwrapArgs returns the command line up to the command. The environment is inherited
// and not set by --setenv, since ps shows arguments. Later mounts hide earlier ones.
func (c Command) bwrapArgs(bwrap string) []string {
	args := []string{bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--info-fd", "3", "--cap-drop", "ALL"}
	if c.Network {
		args = append(args, "--share-net", "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve")
	}
	args = append(args, "--ro-bind", "/usr", "/usr")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	args = append(args, "--ro-bind-try", "/etc", "/etc", "--ro-bind-try", "/opt", "/opt",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--setenv", "TMPDIR", "/tmp")
	if home := lookup(c.Env, "HOME"); filepath.IsAbs(home) && filepath.Clean(home) != "/" {
		args = append(args, "--tmpfs", home)
	}
	for _, path := range append(c.toolchain(), c.Readable...) {
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range c.Writable {
		args = append(args, "--bind-try", path, path)
	}
	if c.Dir != "" {
		args = append(args, "--bind", c.Dir, c.Dir, "--chdir", c.Dir)
	}
	return append(args, "--")
}

// toolchain returns the paths that programs on PATH and the usual builders read. Of
// a home it has the caches only, since credentials lie beside them. go test works
// with a read-only build cache.
func (c Command) toolchain() []string {
	home := filepath.Clean(lookup(c.Env, "HOME"))
	var paths []string
	for _, dir := range filepath.SplitList(lookup(c.Env, "PATH")) {
		if !filepath.IsAbs(dir) || dir == "/bin" || dir == "/sbin" || within(dir, "/usr") {
			continue
		}
		// A program's libraries lie beside its bin directory, except in a home.
		prefix := filepath.Dir(dir)
		if filepath.Base(dir) == "bin" && filepath.Dir(prefix) != home && !within(home, prefix) {
			dir = prefix
		}
		paths = append(paths, dir)
	}
	for _, p := range []string{
		"go/pkg/mod", ".cache/go-build", "Library/Caches/go-build", ".cargo/registry", ".rustup",
		".pyenv", ".rbenv", ".nvm", ".volta", ".asdf", ".sdkman", ".local/share/mise", ".local/lib", // version managers: programs and no secrets
	} {
		paths = append(paths, filepath.Join(home, p))
	}
	for _, dir := range filepath.SplitList(lookup(c.Env, "GOPATH")) {
		paths = append(paths, filepath.Join(dir, "pkg", "mod"))
	}
	for _, name := range []string{"GOROOT", "GOCACHE", "GOMODCACHE", "RUSTUP_HOME", "JAVA_HOME", "VIRTUAL_ENV"} {
		if path := lookup(c.Env, name); filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
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
