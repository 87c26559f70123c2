package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// The forge's own hand: it commits what people merge.
const (
	committerName  = "Local Forge"
	committerEmail = "noreply@localhost"
)

// maxPush is how many bytes one push may have.
const maxPush = 1 << 30

// createBare makes a bare repository with the branches and tags of another
// one, or with the one branch only, and returns its default branch. What an
// earlier, killed attempt left is removed.
func createBare(ctx context.Context, dir, from, only string) (branch string, err error) {
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
	run("init", "-q", "--bare", ".")
	for _, setting := range [][2]string{
		{"uploadpack.allowFilter", "true"},
		{"uploadpack.allowAnySHA1InWant", "true"},
		{"receive.hideRefs", "refs/pull"},
		{"receive.fsckObjects", "true"},
		{"receive.maxInputSize", fmt.Sprint(maxPush)},
		{"core.fsync", "committed,reference"},
		{"gc.auto", "0"}, // commits that only a closed pull request names must stay
	} {
		run("config", setting[0], setting[1])
	}
	branch = "main"
	if from != "" {
		if from, err = filepath.Abs(from); err != nil {
			return "", err
		}
		if only != "" {
			branch = only
			run("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", from, "+refs/heads/"+only+":refs/heads/"+only)
		} else {
			run("fetch", "-q", "--no-write-fetch-head", "--", from, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
			if err == nil {
				branch, err = defaultBranch(ctx, git.New(from), g)
			}
		}
	}
	run("symbolic-ref", "HEAD", "refs/heads/"+branch)
	if err != nil {
		return "", err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return "", err
	}
	return branch, syncDir(filepath.Dir(dir))
}

// defaultBranch is the one the source has checked out, else main, else master,
// else the first of the copy.
func defaultBranch(ctx context.Context, source, copied git.Runner) (string, error) {
	if head, err := source.Run(ctx, "symbolic-ref", "-q", "--short", "HEAD"); err == nil {
		return head, nil
	} else if git.ExitCode(err) != 1 {
		return "", err
	}
	out, err := copied.Run(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
	if err != nil {
		return "", err
	}
	branches := strings.Fields(out)
	for _, usual := range append([]string{"main", "master"}, branches...) {
		for _, b := range branches {
			if b == usual {
				return b, nil
			}
		}
	}
	return "main", nil
}

// refs is every ref of the repository and the commit it names.
func (f *Forge) refs(ctx context.Context, repo string) (map[string]string, error) {
	out, err := f.git(repo).Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[ref] = sha
	}
	return refs, nil
}

var hexPattern = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

// commit resolves what a client names a commit by: a SHA, a branch, a tag or
// a full ref. Anything else that git would understand is not looked at.
func (f *Forge) commit(ctx context.Context, repo, name string) (string, error) {
	refs, err := f.refs(ctx, repo)
	if err != nil {
		return "", err
	}
	for _, ref := range []string{"refs/heads/" + name, "refs/tags/" + name, "refs/" + name, name} {
		if sha, ok := refs[ref]; ok {
			return f.git(repo).Run(ctx, "rev-parse", "--verify", "-q", sha+"^{commit}")
		}
	}
	if hexPattern.MatchString(name) {
		sha, err := f.git(repo).Run(ctx, "rev-parse", "--verify", "-q", name+"^{commit}")
		if err == nil {
			return sha, nil
		}
	}
	return "", errNotFound
}

// contains tells whether the commit is in the history of another one.
func (f *Forge) contains(ctx context.Context, repo, tip, sha string) (bool, error) {
	_, err := f.git(repo).Run(ctx, "merge-base", "--is-ancestor", sha, tip)
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}
