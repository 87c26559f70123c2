package resolve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/engine/attestation"
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

// newTransfer creates a transfer. It has also the objects of the repositories in other
// directories. The caller closes it.
func (s source) newTransfer(ctx context.Context, others ...string) (transfer, error) {
	objects, err := s.objects(ctx)
	for _, dir := range others {
		more, failed := source{dir: dir, git: reader(dir)}.objects(ctx)
		objects, err = append(objects, more...), errors.Join(err, failed)
	}
	if err != nil {
		return transfer{}, err
	}
	dir, err := os.MkdirTemp("", "signalbox-transfer-")
	if err != nil {
		return transfer{}, err
	}
	t := transfer{dir, git.New(dir).WithEnv("GIT_DIR="+dir, "GIT_ALLOW_PROTOCOL=http:https:file", "GIT_NO_LAZY_FETCH=1")}
	if _, err = git.New("").Run(ctx, "init", "--quiet", "--bare", "--template=", dir); err == nil {
		if err = os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o700); err == nil {
			err = os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(strings.Join(objects, "\n")+"\n"), 0o600)
		}
	}
	if err != nil {
		t.close()
		return transfer{}, fmt.Errorf("prepare the transfer: %w", err)
	}
	return t, nil
}

// objects lists the directories with the objects of the user's repository: its own, and
// those that it borrows. Git ignores a relative path in the alternates of an alternate.
func (s source) objects(ctx context.Context) ([]string, error) {
	own, err := s.git.Run(ctx, "rev-parse", "--git-path", "objects")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(s.dir, own)
	}
	all := []string{own}
	counted, err := s.git.Run(ctx, "count-objects", "-v")
	for line := range strings.Lines(counted) {
		if path, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alternate: "); found && filepath.IsAbs(path) {
			all = append(all, path)
		}
	}
	return all, err
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

// attestation fetches the attestation of the fetched commit from the forge. It returns its reference; "" if
// the forge has none.
func (t transfer) attestation(ctx context.Context, url, token string) (ref string, envelope []byte, err error) {
	if ref, err = attestationRef(ctx, t.git, fetched); err != nil {
		return "", nil, err
	}
	if _, err := t.git.WithToken(url, token).Run(ctx, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", url, ref+":"+ref); err != nil {
		return "", nil, nil // of a branch that an older version pushed, or of the base
	}
	envelope, err = t.git.Output(ctx, git.MaxOutput, "cat-file", "blob", ref)
	return ref, envelope, err
}

// attestationRef returns the reference that keeps the attestation of a commit.
func attestationRef(ctx context.Context, g git.Runner, commit string) (string, error) {
	tree, err := g.Run(ctx, "rev-parse", "--verify", "-q", commit+"^{tree}")
	if err != nil {
		return "", err
	}
	id, err := g.Run(ctx, "rev-parse", "--verify", "-q", commit)
	return attestation.Refs + tree + "/" + id, err
}

// unbundle reads the commits of bundles and adds to the last of them, head, an empty commit
// with the message. It returns that commit, and the file of a bundle with all after base.
func (t transfer) unbundle(ctx context.Context, bundles []string, base, head, message string) (bundle, last string, err error) {
	for _, file := range bundles {
		if _, err := t.git.Run(ctx, "bundle", "unbundle", file); err != nil {
			return "", "", err
		}
	}
	who := outbound.DefaultIdentity()
	if last, err = t.git.WithIdentity(who.Name, who.Email).Run(ctx, "commit-tree", "-p", head, "-m", message, head+"^{tree}"); err != nil {
		return "", "", err
	}
	if _, err = t.git.Run(ctx, "update-ref", fetched, last); err != nil {
		return "", "", err
	}
	bundle = filepath.Join(t.dir, "fetched.bundle")
	_, err = t.git.Run(ctx, "bundle", "create", "-q", bundle, fetched, "^"+base)
	return bundle, last, err
}
