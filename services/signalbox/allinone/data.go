package allinone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
)

// ErrForeign means that others may have written what is in a data directory.
var ErrForeign = errors.New("others may have written what is in it")

// owned are the names of what a system keeps in its data directory. It believes these files:
// keys, tokens, addresses, git repositories with their configuration, the log.
var owned = []string{attestKey, attestation.PublicFile(attestKey), linkFile, "forge", "log", "signalbox.log", "watermark", "work"}

// attestKey is the file, in the data directory, of the key that signs attestations.
const attestKey = "attest.key"

// KeyFile returns the file of the key that signs the attestations of a data directory. It is made at the first start.
func KeyFile(dir string) string { return filepath.Join(dir, attestKey) }

// OpenData makes the data directory, if there is none, and opens the file of the services' logs
// in it. It is a usage error, ErrForeign, if the directory belongs to another user, if others
// can write to it, or if the files that the system keeps there came with a git repository.
func OpenData(ctx context.Context, dir string) (*os.File, error) {
	if err := CheckData(ctx, dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, "signalbox.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// CheckData returns the error of OpenData for a directory that may not be used. It creates
// nothing. It removes the others' permission to write where nothing is kept yet.
func CheckData(ctx context.Context, dir string) error {
	refuse := func(format string, args ...any) error {
		return service.Usagef("--data %s: %w: %s", dir, ErrForeign, fmt.Sprintf(format, args...))
	}
	tracked, err := trackedData(ctx, dir)
	if err != nil {
		return service.Usagef("--data %s: %w", dir, err)
	}
	if tracked != "" {
		return refuse("%s came with a git repository; remove it there, or name a directory outside of the repository", tracked)
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return service.Usagef("--data: %w", err)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return refuse("it belongs to user %d, and this is user %d; name a directory of your own", s.Uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		if kept(dir) {
			return refuse("its mode is %#o; if nobody else has used it, `chmod go-w %s`, else name a new directory", mode, dir)
		}
		return os.Chmod(dir, mode&^0o022)
	}
	return nil
}

// kept reports whether a system has kept something in dir.
func kept(dir string) bool {
	for _, name := range owned {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// trackedData returns a file of a data directory that the git repository around it tracks, or
// "". The configuration and prompts of a repository may be in the directory.
func trackedData(ctx context.Context, dir string) (string, error) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return filepath.Join(dir, ".git"), nil // a submodule, or a clone
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	parent, base := filepath.Split(abs)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	out, err := git.New(parent).Run(ctx, "ls-files", "-z", "--", ":(literal,icase)"+base)
	if failed, ok := errors.AsType[*git.Error](err); ok && (strings.Contains(failed.Stderr, "not a git repository") || strings.Contains(failed.Stderr, "in a work tree")) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("whether its files came with a git repository cannot be read: %w", err)
	}
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" {
			continue
		}
		_, below, isBelow := strings.Cut(name, "/")
		first, _, _ := strings.Cut(below, "/")
		if !isBelow || keeps(first) {
			return filepath.Join(parent, name), nil
		}
	}
	return "", nil
}

// keeps reports whether a file system may take name for one of owned.
func keeps(name string) bool {
	ascii := strings.Map(func(r rune) rune {
		if r > 0x7f {
			return -1 // some file systems ignore some of these
		}
		return r
	}, name)
	for _, one := range owned {
		if strings.EqualFold(ascii, one) {
			return true
		}
	}
	return false
}
