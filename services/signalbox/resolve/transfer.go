package resolve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/git"
)

// transfer is a bare repository for one push or fetch. It uses the objects of the user's
// repository as alternates.
//
// The configuration of the user's repository may name commands for every transport, and
// redirect a push. So no git that reads it transfers anything or gets the token.
type transfer struct {
	dir string
	git git.Runner
}

// reader returns a runner that reads the user's repository. All transports are off.
func reader(dir string) git.Runner {
	return git.New(dir).WithEnv("GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1").WithConfig("log.showSignature", "false")
}

// newTransfer creates a transfer. The caller closes it.
func (s source) newTransfer(ctx context.Context) (transfer, error) {
	objects, err := s.git.Run(ctx, "rev-parse", "--git-path", "objects")
	if err != nil {
		return transfer{}, err
	}
	if !filepath.IsAbs(objects) {
		objects = filepath.Join(s.dir, objects)
	}
	dir, err := os.MkdirTemp("", "signalbox-transfer-")
	if err != nil {
		return transfer{}, err
	}
	t := transfer{dir, git.New(dir).WithEnv("GIT_DIR="+dir, "GIT_ALLOW_PROTOCOL=http:https:file", "GIT_NO_LAZY_FETCH=1")}
	if _, err = git.New("").Run(ctx, "init", "--quiet", "--bare", "--template=", dir); err == nil {
		if err = os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o700); err == nil {
			err = os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n"), 0o600)
		}
	}
	if err != nil {
		t.close()
		return transfer{}, fmt.Errorf("prepare the transfer: %w", err)
	}
	return t, nil
}

func (t transfer) close() { _ = os.RemoveAll(t.dir) }

// push pushes a commit of the user's repository to a branch on the forge.
func (t transfer) push(ctx context.Context, url, token, commit, branch string) error {
	_, err := t.git.WithToken(url, token).Run(ctx, "push", "-q", "--no-verify", "--force", "--", url, commit+":refs/heads/"+branch)
	return err
}

// fetched is the branch that fetch writes to.
const fetched = "refs/heads/fetched"

// fetch fetches a branch from the forge. It returns its head, and the file of a bundle
// with the commits after base; "" if there are none.
func (t transfer) fetch(ctx context.Context, url, token, branch, base string) (bundle, head string, err error) {
	if _, err = t.git.WithToken(url, token).Run(ctx, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", url,
		"refs/heads/"+branch+":"+fetched); err != nil {
		return "", "", err
	}
	if head, err = t.git.Run(ctx, "rev-parse", fetched); err != nil || head == base {
		return "", head, err
	}
	bundle = filepath.Join(t.dir, "fetched.bundle")
	_, err = t.git.Run(ctx, "bundle", "create", "-q", bundle, fetched, "^"+base)
	return bundle, head, err
}
