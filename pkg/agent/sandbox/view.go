package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Forbidden reports whether a directory is one that no command is shown. That is a home,
// one that has homes below it, or one with credentials of ours.
func Forbidden(dir string) bool {
	dir = real(dir)
	home, _ := os.UserHomeDir()
	if dir == "/" || home != "" && within(real(home), dir) {
		return true
	}
	for _, name := range []string{".signalbox", ".env", ".ssh", "person.token"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// real returns a path without links, or as it is where that fails.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// system returns the directories of the operating system that a command reads.
func system() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"}
}

// public returns the patterns of the files below /etc that a command reads: who and what the machine has, where names lead, which
// authorities vouch for servers, and the settings of languages and libraries that their packages put
// there. Files that tools of a user or of the machine's administrator keep there may have credentials.
func public() []string {
	return []string{
		"passwd", "group", "hosts", "host.conf", "hostname", "resolv.conf", "nsswitch.conf", "gai.conf", "networks", "services", "protocols", "rpc",
		"ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "ssl/ca-bundle.pem", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/ca-trust",
		"ca-certificates", "crypto-policies", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-*.path", "alternatives",
		"localtime", "timezone", "locale.conf", "locale.alias", "default/locale", "inputrc", "terminfo", "bash.bashrc", "shells",
		"os-release", "lsb-release", "debian_version", "alpine-release", "redhat-release", "system-release", "fedora-release", "arch-release",
		"mime.types", "magic", "magic.mime", "fonts", "java", "java-*", "maven", "perl", "python", "python2*", "python3*", "php", "php*", "R", "ImageMagick-*",
	}
}

// etc returns the public files of /etc that there are.
func etc() []string {
	var paths []string
	for _, pattern := range public() {
		found, _ := filepath.Glob(filepath.Join("/etc", pattern))
		paths = append(paths, found...)
	}
	return paths
}

// optional returns the directories of programs below /opt that links in PATH lead to.
func optional(path string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		entries, err := os.ReadDir(dir)
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 {
				continue
			}
			target, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
			if err != nil || !within(target, "/opt") {
				continue
			}
			prefix := filepath.Dir(target)
			if filepath.Base(prefix) == "bin" {
				prefix = filepath.Dir(prefix)
			}
			if prefix != "/opt" && !slices.Contains(dirs, prefix) {
				dirs = append(dirs, prefix)
			}
		}
	}
	return dirs
}

// toolchain returns the paths that programs on PATH and the usual builders read. Of
// a home it has programs and their libraries only, since credentials lie next to
// them.
func (c Command) toolchain() []string {
	home := filepath.Clean(lookup(c.Env, "HOME"))
	var paths []string
	for _, dir := range filepath.SplitList(lookup(c.Env, "PATH")) {
		if !filepath.IsAbs(dir) || dir == "/bin" || dir == "/sbin" || within(dir, "/usr") || Forbidden(dir) {
			continue
		}
		if root := manager(dir); root != "" && !Forbidden(root) {
			paths = append(paths, root) // a shim calls the programs of its version manager
			continue
		}
		// A program's libraries lie next to its bin directory, except in a home.
		prefix := filepath.Dir(dir)
		if filepath.Base(dir) == "bin" && filepath.Dir(prefix) != home && !within(home, prefix) && !Forbidden(prefix) && !repository(prefix) {
			dir = prefix
		}
		paths = append(paths, dir)
	}
	for _, p := range append(managers(), ".local/lib") {
		paths = append(paths, filepath.Join(home, p))
	}
	for _, name := range []string{"GOROOT", "RUSTUP_HOME", "JAVA_HOME", "VIRTUAL_ENV"} {
		if path := lookup(c.Env, name); filepath.IsAbs(path) && !Forbidden(path) {
			paths = append(paths, path)
		}
	}
	return append(paths, c.userCaches()...)
}

// managers lists the directories of version managers in a home. They have programs and no
// secrets.
func managers() []string {
	return []string{".rustup", ".pyenv", ".rbenv", ".nvm", ".volta", ".asdf", ".sdkman", ".local/share/mise"}
}

// manager returns the directory of the version manager that a directory lies in, in whose
// home it may be; empty if there is none.
func manager(dir string) string {
	for _, name := range managers() {
		if before, _, ok := strings.Cut(dir+"/", "/"+name+"/"); ok {
			return before + "/" + name
		}
	}
	return ""
}

// repository reports whether a directory is a git repository.
func repository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// userCaches returns this user's own caches of Go, which a command reads from.
func (c Command) userCaches() []string {
	home := lookup(c.Env, "HOME")
	paths := []string{filepath.Join(home, "go/pkg/mod"), filepath.Join(home, ".cache/go-build"), filepath.Join(home, "Library/Caches/go-build")}
	for _, dir := range filepath.SplitList(lookup(c.Env, "GOPATH")) {
		paths = append(paths, filepath.Join(dir, "pkg", "mod"))
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		if path := lookup(c.Env, name); filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) || Forbidden(path) })
}

// program returns what the command itself needs to start where it lies in a home. These are
// the files that its links go through, and the packages or the prefix at their end.
func (c Command) program() []string {
	at := c.Argv[0]
	if !strings.Contains(at, "/") {
		for _, dir := range filepath.SplitList(lookup(c.Env, "PATH")) {
			if info, err := os.Stat(filepath.Join(dir, at)); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				at = filepath.Join(dir, at)
				break
			}
		}
	}
	if !filepath.IsAbs(at) {
		return nil
	}
	home := filepath.Clean(lookup(c.Env, "HOME"))
	paths := []string{at}
	for range 16 {
		target, err := os.Readlink(at)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		at = target
		dir := filepath.Dir(at)
		if before, _, ok := strings.Cut(at, "/node_modules/"); ok {
			dir = before + "/node_modules"
		} else if filepath.Base(dir) == "bin" && !within(home, filepath.Dir(dir)) {
			dir = filepath.Dir(dir)
		}
		if Forbidden(dir) {
			dir = at
		}
		paths = append(paths, dir)
	}
	return paths
}

// readable returns the paths outside the system that the command may read and not
// write. Paths that do not exist are left out, and hidden ones, if the command only
// happened to need them.
func (s Sandbox) readable(c Command) []string {
	var paths []string
	add := func(path string) {
		shown := func(dir string) bool { return path == dir || link(path) && within(path, dir) }
		if _, err := os.Stat(path); err == nil && !slices.ContainsFunc(paths, shown) {
			paths = append(paths, path)
		}
	}
	for _, path := range slices.Concat(c.needed, s.opt) {
		if !s.hides(path) {
			add(path)
		}
	}
	for _, path := range append(slices.Clone(c.Readable), s.helper) {
		add(path)
	}
	return paths
}

func link(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// hides reports whether a path is hidden, or lies below one that is.
func (s Sandbox) hides(path string) bool {
	return slices.ContainsFunc(s.hidden, func(hidden string) bool { return within(real(path), real(hidden)) })
}
