package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ownDirs are the directories of one run, which are removed after it. They lie on
// disk, and count for Limits.Disk.
type ownDirs struct {
	root, home, tmp string
	socket          string // of the proxy; empty: there is no network
	short           string // the directory of the socket where the path of root is too long; else empty
}

// maxSocket is the longest path of a Unix socket, in bytes.
const maxSocket = 107

// newSocket returns the path of the proxy's socket. It lies below root. Where that path would be
// too long, as with a long TMPDIR, it lies in a directory of its own below /tmp.
func (o *ownDirs) newSocket() (string, error) {
	const name = "proxy"
	if path := filepath.Join(o.root, name); len(path) <= maxSocket {
		return path, nil
	}
	var err error
	o.short, err = os.MkdirTemp("/tmp", "signalbox-proxy-*")
	return filepath.Join(o.short, name), err
}

// maxLogin limits the bytes of a login that is copied.
const maxLogin = 16 << 20

func newOwnDirs(c Command) (own ownDirs, err error) {
	if own.root, err = os.MkdirTemp("", "signalbox-run-*"); err != nil {
		return own, err
	}
	own.home, own.tmp = filepath.Join(own.root, "home"), filepath.Join(own.root, "tmp")
	err = errors.Join(os.Mkdir(own.home, 0o700), os.Mkdir(own.tmp, 0o700))
	for i, m := range c.Mounts {
		for j := range m.Private {
			err = errors.Join(err, os.Mkdir(own.private(i, j), 0o700))
		}
	}
	home := lookup(c.Env, "HOME")
	for _, name := range c.Login {
		if err == nil && filepath.IsLocal(name) && filepath.IsAbs(home) {
			err = copyFile(filepath.Join(home, name), filepath.Join(own.home, name))
		}
	}
	if err == nil && c.GradleHome != "" {
		err = os.CopyFS(filepath.Join(own.home, gradleHome), os.DirFS(c.GradleHome))
	}
	if err != nil {
		return own, errors.Join(err, own.remove())
	}
	return own, nil
}

// gradleHome is the home of Gradle below HOME.
const gradleHome = ".gradle"

// private returns the directory of a run for a directory of one of its mounts.
func (o ownDirs) private(mount, dir int) string {
	return filepath.Join(o.root, fmt.Sprintf("mount-%d-%d", mount, dir))
}

// copyFile copies a file, if there is one. A program of the user's reads the copy;
// changes to it are dropped.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxLogin {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// remove removes the directories, read-only ones as well.
func (o ownDirs) remove() error {
	if o.root == "" {
		return nil
	}
	if o.short != "" {
		defer os.RemoveAll(o.short)
	}
	err := os.RemoveAll(o.root)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(o.root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(o.root)
}
