package resolve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/git"
)

// courier is a bare repository of our own, made for one transfer, that borrows
// the objects of the user's repository.
//
// A repository is code: its configuration may name commands for every
// transport, and send a push elsewhere. So nothing is transferred by a git that
// reads the user's configuration, and the token never meets it.
type courier struct {
	dir string
	git git.Runner
}

// reader returns a runner that reads the user's repository. It has no transport.
func reader(dir string) git.Runner {
	return git.New(dir).WithEnv("GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1").WithConfig("log.showSignature", "false")
}

// courier makes one; the caller closes it.
func (s source) courier(ctx context.Context) (courier, error) {
	objects, err := s.git.Run(ctx, "rev-parse", "--git-path", "objects")
	if err != nil {
		return courier{}, err
	}
	if !filepath.IsAbs(objects) {
		objects = filepath.Join(s.dir, objects)
	}
	dir, err := os.MkdirTemp("", "signalbox-transfer-")
	if err != nil {
		return courier{}, err
	}
	c := courier{dir, git.New(dir).WithEnv("GIT_DIR="+dir, "GIT_ALLOW_PROTOCOL=http:https:file", "GIT_NO_LAZY_FETCH=1")}
	if _, err = git.New("").Run(ctx, "init", "--quiet", "--bare", "--template=", dir); err == nil {
		if err = os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o700); err == nil {
			err = os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n"), 0o600)
		}
	}
	if err != nil {
		c.close()
		return courier{}, fmt.Errorf("prepare the transfer: %w", err)
	}
	return c, nil
}

func (c courier) close() { _ = os.RemoveAll(c.dir) }

// push brings a commit of the user's repository to a branch on the forge.
func (c courier) push(ctx context.Context, url, token, commit, branch string) error {
	_, err := c.git.WithToken(url, token).Run(ctx, "push", "-q", "--no-verify", "--force", "--", url, commit+":refs/heads/"+branch)
	return err
}

// fetched is where fetch keeps what it got.
const fetched = "refs/heads/fetched"

// fetch gets a branch from the forge as a bundle of what comes after base. The
// bundle is empty, "", if nothing does.
func (c courier) fetch(ctx context.Context, url, token, branch, base string) (bundle, head string, err error) {
	if _, err = c.git.WithToken(url, token).Run(ctx, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", url,
		"refs/heads/"+branch+":"+fetched); err != nil {
		return "", "", err
	}
	if head, err = c.git.Run(ctx, "rev-parse", fetched); err != nil || head == base {
		return "", head, err
	}
	bundle = filepath.Join(c.dir, "fetched.bundle")
	_, err = c.git.Run(ctx, "bundle", "create", "-q", bundle, fetched, "^"+base)
	return bundle, head, err
}
