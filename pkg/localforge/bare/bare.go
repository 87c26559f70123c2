// Package bare works on bare git repositories: their refs, commits, trees and
// differences, merges without a work tree, and git's smart HTTP protocol. It knows
// nothing of issues, pull requests or accounts.
package bare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/git"
)

// The identity of commits that no account makes.
const (
	committerName  = "Local Forge"
	committerEmail = "noreply@localhost"
)

// maxPush is how many bytes one push may have.
const maxPush = 1 << 30

// ErrNoCommit means that a name is no commit of the repository.
var ErrNoCommit = errors.New("no such commit")

// Repos is the bare repositories below a directory. Its methods may be called from
// any goroutine.
type Repos struct {
	dir         string
	comparisons cache[Comparison]
	outputs     cache[string] // of git
	contained   cache[bool]
	where       func(name string) string
}

// NewRepos returns the repositories in dir. It creates the directory if there is none.
func NewRepos(dir string) (*Repos, error) { return &Repos{dir: dir}, os.MkdirAll(dir, 0o700) }

// Where has Repo ask for the place of a repository, as owner/name, by the name that it has
// now. It is called before anything else.
func (r *Repos) Where(of func(name string) string) { r.where = of }

// Repo returns the repository owner/name, a name that was checked.
func (r *Repos) Repo(name string) Repo {
	if r.where != nil {
		name = r.where(name)
	}
	return r.At(name)
}

// At returns the repository at a place.
func (r *Repos) At(name string) Repo {
	dir := filepath.Join(r.dir, filepath.FromSlash(strings.ToLower(name))+".git")
	return Repo{Runner: git.New(dir).WithIdentity(committerName, committerEmail), name: name, repos: r}
}

// Repo is one bare repository. The runner runs git in it.
type Repo struct {
	git.Runner
	name  string
	repos *Repos
}

// Create makes the repository with the branches and tags of the one in from, or with
// the one branch only, and returns its default branch. If from is empty, so is the
// repository. It removes what an earlier attempt left.
func (r Repo) Create(ctx context.Context, from, only string) (branch string, err error) {
	dir := r.Dir()
	fresh := dir + ".new"
	for _, left := range []string{fresh, dir} {
		if err := os.RemoveAll(left); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		return "", err
	}
	g := git.New(fresh)
	run := func(args ...string) (out string) {
		if err == nil {
			out, err = g.Run(ctx, args...)
		}
		return out
	}
	run("init", "-q", "--bare", "--template=", ".")
	if err == nil {
		err = write(filepath.Join(fresh, "config"), os.O_APPEND, fmt.Sprintf(settings, maxPush))
	}
	branch = "main"
	if from != "" {
		if from, err = filepath.Abs(from); err != nil {
			return "", err
		}
		if only != "" {
			branch = only
			run("fetch", "-q", "--no-write-fetch-head", "--", from, "+refs/heads/"+only+":refs/heads/"+only) // with the tags of its history
		} else {
			run("fetch", "-q", "--no-write-fetch-head", "--", from, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
			if err == nil {
				branch, err = defaultBranch(ctx, git.New(from), g)
			}
		}
	}
	if err == nil {
		err = write(filepath.Join(fresh, "HEAD"), os.O_TRUNC, "ref: refs/heads/"+branch+"\n")
	}
	if err != nil {
		return "", err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return "", err
	}
	return branch, syncDir(filepath.Dir(dir))
}

// settings are the lines of a repository's configuration that the forge adds. Commits that only a
// closed pull request names must stay, so nothing is collected.
const settings = `[core]
	fsync = committed,reference
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[receive]
	hideRefs = refs/pull
	fsckObjects = true
	maxInputSize = %d
	autogc = false
[gc]
	auto = 0
[maintenance]
	auto = false
`

// write writes the text to a file that exists, and flushes it to disk. flag says whether it replaces
// the content or is appended.
func write(file string, flag int, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|flag, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// defaultBranch returns the branch that the source has checked out, else main, else
// master, else the first branch of the copy.
func defaultBranch(ctx context.Context, source, copied git.Runner) (string, error) {
	// The short name of a branch that shares its name with a tag would be heads/NAME.
	if head, err := source.Run(ctx, "symbolic-ref", "-q", "HEAD"); err == nil {
		return strings.TrimPrefix(head, "refs/heads/"), nil
	} else if git.ExitCode(err) != 1 {
		return "", err
	}
	out, err := copied.Run(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
	if err != nil {
		return "", err
	}
	branches := strings.Fields(out)
	for _, usual := range append([]string{"main", "master"}, branches...) {
		if slices.Contains(branches, usual) {
			return usual, nil
		}
	}
	return "main", nil
}

// syncDir flushes the entries of the directory to disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

var hexPattern = lazyregexp.New(`^[0-9a-f]{7,40}$`)

// IsSHA reports whether the text is a whole SHA.
func IsSHA(text string) bool { return len(text) == 40 && hexPattern.MatchString(text) }

// Resolve returns the commit that a client names by a SHA, a branch, a tag or a full
// ref. It fails with ErrNoCommit for any other name, also one that git understands.
func (r Repo) Resolve(ctx context.Context, name string) (string, error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return "", err
	}
	for _, ref := range []string{"refs/heads/" + name, "refs/tags/" + name, "refs/" + name, name} {
		if sha, ok := refs[ref]; ok {
			if strings.HasPrefix(ref, "refs/heads/") {
				return sha, nil // git lets a branch name a commit only
			}
			return r.peel(ctx, sha)
		}
	}
	if hexPattern.MatchString(name) {
		sha, err := r.peel(ctx, name)
		if err == nil {
			return sha, nil
		}
	}
	return "", ErrNoCommit
}

// peel returns the commit that a SHA, which may be short, names itself or by a tag.
func (r Repo) peel(ctx context.Context, sha string) (string, error) {
	out, err := r.read(ctx, git.MaxOutput, "rev-parse", "--verify", "-q", sha+"^{commit}")
	return strings.TrimSuffix(out, "\n"), err
}

// Contains reports whether the commit is in the history of the tip.
func (r Repo) Contains(ctx context.Context, tip, sha string) (bool, error) {
	key := r.Dir() + " " + tip + " " + sha
	if in, ok := r.repos.contained.get(key); ok {
		return in, nil
	}
	_, err := r.Run(ctx, "merge-base", "--is-ancestor", sha, tip)
	if err != nil && git.ExitCode(err) != 1 {
		return false, err
	}
	if IsSHA(tip) && IsSHA(sha) {
		r.repos.contained.put(key, err == nil)
	}
	return err == nil, nil
}

// ErrMoved means that a ref is no longer where the caller saw it.
var ErrMoved = errors.New("the ref has moved")

// MoveRef moves the ref from one commit to another. It fails with ErrMoved if the ref
// is not at from.
func (r Repo) MoveRef(ctx context.Context, ref, to, from string) error {
	_, err := r.Run(ctx, "update-ref", ref, to, from)
	if git.ExitCode(err) > 0 {
		return ErrMoved
	}
	return err
}
