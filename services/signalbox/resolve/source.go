package resolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// source is the user's repository.
type source struct {
	dir    string // absolute
	name   string // on the local forge
	branch string // the base branch
	head   string // the commit of branch
	git    git.Runner
}

// openRepository reads the repository. It changes nothing in it.
func openRepository(ctx context.Context, dir, base string) (source, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return source{}, err
	}
	root, err := allinone.Repository(ctx, abs)
	if err != nil {
		return source{}, err
	}
	s := source{dir: root, branch: base, git: reader(root)}
	if s.branch == "" {
		// The short name of a branch that shares its name with a tag would be heads/NAME.
		ref, err := s.git.Run(ctx, "symbolic-ref", "-q", "HEAD")
		if err != nil {
			return s, errors.New("HEAD is detached: check out a branch, or name one with --base")
		}
		s.branch = strings.TrimPrefix(ref, "refs/heads/")
	}
	if s.head, err = s.git.Run(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+s.branch+"^{commit}"); err != nil {
		if base != "" {
			return s, fmt.Errorf("there is no branch %q", base)
		}
		return s, fmt.Errorf("branch %q has no commits: commit something to start from", s.branch)
	}
	// The forge starts from the default branch, so each base branch has its own copy.
	s.name = "local/" + safe(filepath.Base(s.dir))
	if s.branch != "main" && s.branch != "master" {
		s.name += "-" + safe(s.branch)
	}
	return s, nil
}

// leavesRoom returns an error if the base branch has the name below which the branches of a
// lifecycle are. On the copy of the repository no such branch could be made.
func (s source) leavesRoom(lifecycle string) error {
	for _, taken := range []string{"signalbox", "agent"} {
		if s.branch == taken && (taken == "agent") == (lifecycle == "pipeline") {
			return fmt.Errorf("the branches of the work are %s/…, which git does not make where %s is a branch: rename it with `git -C %s branch -m %s OTHER`, "+
				"or start from another with --base", taken, taken, term.Quote(s.dir), taken)
		}
	}
	return nil
}

// possible returns the name for a branch, or one without slashes if git can have none of that
// name: where a/b is a branch, neither a nor a/b/c is one.
func (s source) possible(ctx context.Context, name string) string {
	below, err := s.git.Run(ctx, "for-each-ref", "--count=1", "--format=%(refname)", "refs/heads/"+name+"/")
	taken := err == nil && below != ""
	for i, letter := range name {
		if letter != '/' || taken {
			continue
		}
		_, err := s.git.Run(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+name[:i])
		taken = err == nil
	}
	if taken {
		return strings.ReplaceAll(name, "/", "-")
	}
	return name
}

// key returns a directory name for the repository's data.
func (s source) key() string {
	sum := sha256.Sum256([]byte(s.dir))
	return safe(filepath.Base(s.dir)) + "-" + hex.EncodeToString(sum[:6])
}

// push pushes the base branch to the forge's copy.
func (s source) push(ctx context.Context, url, token string) error {
	modules, _ := s.modules(ctx, s.head, "")
	var dirs []string
	for _, m := range modules {
		dirs = append(dirs, m.dir)
	}
	t, err := s.newTransfer(ctx, dirs...)
	if err != nil {
		return err
	}
	defer t.close()
	if err = t.push(ctx, url, token, s.head, s.branch); err == nil {
		err = t.carry(ctx, s, url, token, modules)
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", s.branch, err)
	}
	return nil
}

// fetch fetches branch from the forge's copy into the repository as the branch as, with the attestation of its
// commit. If a branch of that name has other commits it appends a number. It returns the name.
func (s source) fetch(ctx context.Context, url, token, branch, as string) (string, error) {
	t, err := s.newTransfer(ctx)
	if err != nil {
		return "", err
	}
	defer t.close()
	bundle, head, err := t.fetch(ctx, url, token, branch, s.head)
	if as, err = s.take(ctx, bundle, head, as, err); err != nil {
		return "", err
	}
	ref, envelope, err := t.attestation(ctx, url, token)
	if err == nil && ref != "" {
		err = s.git.Keep(ctx, ref, envelope)
	}
	if err != nil {
		return "", fmt.Errorf("bring the attestation of %s into %s: %w", as, s.dir, err)
	}
	return as, nil
}

// attested returns the reference of the attestation that the repository has of a commit, and the object that
// it names; "" if it has none.
func (s source) attested(ctx context.Context, commit string) (ref, object string) {
	ref, err := attestationRef(ctx, s.git, commit)
	if err == nil {
		object, err = s.git.Run(ctx, "rev-parse", "--verify", "-q", ref)
	}
	if err != nil {
		return "", ""
	}
	return ref, object
}

// take makes the branch as at the head of a bundle. It returns the name, as fetch does. The
// error is that of making the bundle.
func (s source) take(ctx context.Context, bundle, head, as string, err error) (string, error) {
	if err == nil && bundle != "" {
		_, err = s.git.Run(ctx, "bundle", "unbundle", bundle)
	}
	if err != nil {
		return "", fmt.Errorf("bring branch %s into %s: %w", as, s.dir, err)
	}
	as = s.possible(ctx, as)
	for n := 1; ; n++ {
		name := as
		if n > 1 {
			name = fmt.Sprintf("%s-%d", as, n)
		}
		if there, err := s.git.Run(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+name); err == nil {
			if there == head {
				return name, nil
			}
			continue
		}
		if _, err := s.git.Run(ctx, "update-ref", "refs/heads/"+name, head, ""); err != nil {
			return "", fmt.Errorf("bring branch %s into %s: %w", name, s.dir, err)
		}
		return name, nil
	}
}

// Bring fetches a branch from a forge's copy into the repository in dir, whose branch base
// the copy has. The checkout is not touched, and no branch that is there: if one of that
// name has other commits a number is appended. It returns the name.
func Bring(ctx context.Context, dir, base, url, token, branch string) (string, error) {
	s, err := openRepository(ctx, dir, base)
	if err != nil {
		return "", err
	}
	return s.fetch(ctx, url, token, branch, branch)
}

// safe replaces the letters that a forge's repository name cannot have.
func safe(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-"); name == "" {
		return "repository"
	}
	return name
}
