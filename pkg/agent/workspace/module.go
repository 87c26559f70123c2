package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/git"
)

const (
	tagRefs = "refs/tags/"
	// moduleRefs begins the references of what submodules have: for each commit of a submodule
	// one commit without a history, which has the same files.
	moduleRefs = "refs/signalbox/modules/"
	// maxTags is how many tags of a history, the newest, are kept.
	maxTags = 10_000
)

// ModuleRef is the reference by which a repository holds the files of a submodule's commit.
// The copy of a repository to a forge of this machine puts them there.
func ModuleRef(commit string) string { return moduleRefs + commit }

// Module is a submodule of a commit.
type Module struct{ Path, Commit string }

// Modules lists the submodules of a commit.
func Modules(ctx context.Context, g git.Runner, commit string) ([]Module, error) {
	raw, err := g.Output(ctx, maxList, lsTree(commit)...)
	return modulesIn(string(raw)), err
}

// modulesIn returns the submodules in a list of files.
func modulesIn(files string) (all []Module) {
	for entry := range strings.SplitSeq(files, "\x00") {
		if meta, name, found := strings.Cut(entry, "\t"); found && strings.HasPrefix(meta, "160000 ") {
			if fields := strings.Fields(meta); len(fields) == 3 {
				all = append(all, Module{name, fields[2]})
			}
		}
	}
	return all
}

// modules lists the submodules of a commit.
func (r repository) modules(ctx context.Context, commit string) ([]Module, error) {
	files, err := r.files(ctx, commit)
	return modulesIn(files), err
}

// Flat makes a commit without a history that has the files of another, and returns it.
func Flat(ctx context.Context, g git.Runner, commit string) (string, error) {
	who := outbound.DefaultIdentity()
	return g.WithIdentity(who.Name, who.Email).WithEnv("GIT_AUTHOR_DATE=2000-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2000-01-01T00:00:00Z").
		Run(ctx, "commit-tree", "-m", "The files of "+commit, commit+"^{tree}")
}

// ModuleURL returns the URL of a submodule at a path, as .gitmodules of the commit has it; "" if
// it has none.
func ModuleURL(ctx context.Context, g git.Runner, commit, at string) string {
	paths, err := g.Run(ctx, "config", "--blob", commit+":.gitmodules", "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return ""
	}
	for entry := range strings.SplitSeq(paths, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if value != at {
			continue
		}
		to, err := g.Run(ctx, "config", "--blob", commit+":.gitmodules", "--get", strings.TrimSuffix(key, ".path")+".url")
		if err != nil {
			return ""
		}
		return to
	}
	return ""
}

// belongings lists the references that a bundle of the whole history has, too: the tags in it,
// and the files of its submodules.
func (r repository) belongings(ctx context.Context, head string) ([]string, error) {
	var refs []string
	if !r.tagless() {
		tags, err := r.git.Run(ctx, "for-each-ref", "--sort=-creatordate", fmt.Sprintf("--count=%d", maxTags), "--merged="+head, "--format=%(refname)", tagRefs)
		if err != nil {
			return nil, err
		}
		refs = strings.Fields(tags)
	}
	all, err := r.modules(ctx, head)
	if err != nil {
		return nil, err
	}
	for n := 0; len(all) > 0 && n < maxDeep; n++ {
		var deeper []Module
		for _, m := range all {
			ref := ModuleRef(m.Commit)
			if _, err := r.git.Run(ctx, "rev-parse", "--verify", "--quiet", ref); err != nil || slices.Contains(refs, ref) {
				continue
			}
			refs = append(refs, ref)
			more, err := Modules(ctx, r.git, ref)
			if err != nil {
				return nil, err
			}
			deeper = append(deeper, more...)
		}
		all = deeper
	}
	return refs, nil
}

// tagless reports whether the repository has no tag for certain: git never packed its references,
// and there is no file of one.
func (r repository) tagless() bool {
	tags, err := os.ReadDir(filepath.Join(r.dir, "refs", "tags"))
	return r.absent("packed-refs") && len(tags) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist))
}

// maxDeep is how deep submodules of submodules are followed.
const maxDeep = 5

// modules fetches the files of the submodules of a commit: from the repository itself, if it
// holds them, else from the same forge with the same rights. Those of other owners are fetched
// without the token, and those of other hosts not at all.
func (c *Cache) modules(ctx context.Context, r repository, from Remote, base string) error {
	all, err := r.modules(ctx, base)
	if err != nil || len(all) == 0 {
		return err
	}
	_, err = from.authorize(r.git).Run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--", from.URL,
		"+"+moduleRefs+"*:"+moduleRefs+"*")
	if err != nil {
		return err
	}
	return c.modulesOf(ctx, r, from, base, all, 0)
}

func (c *Cache) modulesOf(ctx context.Context, r repository, from Remote, commit string, all []Module, deep int) error {
	for _, m := range all {
		ref := ModuleRef(m.Commit)
		at := Remote{}
		if _, err := r.git.Run(ctx, "rev-parse", "--verify", "--quiet", ref); err != nil {
			var same bool
			if at, same = from.module(ModuleURL(ctx, r.git, commit, m.Path)); !same || !commitID.MatchString(m.Commit) {
				continue
			}
			if err := c.fetchModule(ctx, r, at, m.Commit); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				continue // the tree says that it is not there
			}
		}
		more, err := Modules(ctx, r.git, ref)
		if err != nil || deep == maxDeep || at.URL == "" {
			continue
		}
		if err := c.modulesOf(ctx, r, at, ref, more, deep+1); err != nil {
			return err
		}
	}
	return nil
}

// module returns the remote of a submodule, and whether it is on the same forge. It has the
// token if it has the same owner.
func (m Remote) module(to string) (Remote, bool) {
	own, err := url.Parse(m.URL)
	if err != nil || own.Host == "" || to == "" {
		return Remote{}, false
	}
	u := *own
	if strings.HasPrefix(to, "./") || strings.HasPrefix(to, "../") {
		u.Path = path.Join(own.Path, to)
	} else if host, at, ssh := strings.Cut(strings.TrimPrefix(to, "git@"), ":"); ssh && strings.HasPrefix(to, "git@") {
		if host != own.Hostname() {
			return Remote{}, false
		}
		u.Path = "/" + at
	} else {
		other, err := url.Parse(to)
		if err != nil || other.Hostname() != own.Hostname() || (other.Scheme != "https" && other.Scheme != own.Scheme) {
			return Remote{}, false
		}
		u.Path = other.Path
	}
	found := Remote{URL: u.String()}
	if owner(u.Path) == owner(own.Path) {
		found.Token = m.Token
	}
	return found, true
}

// owner returns the path of a repository without its last part.
func owner(at string) string { return strings.ToLower(path.Dir(strings.TrimSuffix(at, "/"))) }

// fetchModule fetches the files of a commit of another repository, without its history.
func (c *Cache) fetchModule(ctx context.Context, r repository, from Remote, commit string) (err error) {
	dir, err := os.MkdirTemp(c.cfg.Dir, "module-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g := runner(dir).WithEnv("GIT_DIR=" + dir)
	if _, err = g.Run(ctx, "init", "--quiet", "--bare", "--template=", dir); err != nil {
		return err
	}
	if _, err = from.authorize(g).Run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--recurse-submodules=no", "--", from.URL, commit); err != nil {
		return err
	}
	flat, err := Flat(ctx, g, commit)
	if err != nil {
		return err
	}
	if _, err = g.Run(ctx, "update-ref", ModuleRef(commit), flat); err != nil {
		return err
	}
	_, err = r.fetch(ctx, r.git, dir, ModuleRef(commit), ModuleRef(commit), noTags)
	return err
}

// populate writes the files of the submodules of a commit below the directory. Git does not
// look at them: they have no repository. Spare is a directory for indexes. It returns the paths of those that are not there.
func (r repository) populate(ctx context.Context, dir, spare, commit, at string, deep int) (missing []string, err error) {
	all, err := r.modules(ctx, commit)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		name := path.Join(at, m.Path)
		ref := ModuleRef(m.Commit)
		if _, err := r.git.Run(ctx, "rev-parse", "--verify", "--quiet", ref); err != nil || deep == maxDeep {
			missing = append(missing, name)
			continue
		}
		into, index := filepath.Join(dir, m.Path), filepath.Join(spare, m.Commit)
		err := os.MkdirAll(into, 0o755)
		if err == nil {
			_, err = r.git.In(into).WithEnv("GIT_WORK_TREE="+into, "GIT_INDEX_FILE="+index).Run(ctx, "read-tree", "--reset", "-u", ref)
		}
		if err = errors.Join(err, os.RemoveAll(index)); err != nil {
			return nil, err
		}
		more, err := r.populate(ctx, into, spare, ref, name, deep+1)
		if err != nil {
			return nil, err
		}
		missing = append(missing, more...)
	}
	return missing, nil
}
