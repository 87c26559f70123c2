package resolve

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// module is a submodule of the base that the checkout has.
type module struct {
	workspace.Module        // its path from the root of the repository
	dir              string // of its checkout
}

// modules lists the submodules of a commit of the repository, also those of submodules: those
// whose commit the checkout has, and the paths of the others.
func (s source) modules(ctx context.Context, commit, below string) (there []module, missing []string) {
	all, err := workspace.Modules(ctx, s.git, commit)
	if err != nil {
		return nil, nil
	}
	for _, m := range all {
		m.Path = path.Join(below, m.Path)
		sub := source{dir: filepath.Join(s.dir, strings.TrimPrefix(m.Path, below))}
		sub.git = reader(sub.dir)
		if _, err := os.Lstat(filepath.Join(sub.dir, ".git")); err == nil {
			_, err = sub.git.Run(ctx, "cat-file", "-e", m.Commit+"^{commit}")
			if err == nil {
				more, none := sub.modules(ctx, m.Commit, m.Path)
				there, missing = append(append(there, module{m, sub.dir}), more...), append(missing, none...)
				continue
			}
		}
		missing = append(missing, m.Path)
	}
	return there, missing
}

// carry pushes to the forge's copy the parts of the base other than its history: the tags in it,
// and the files of its submodules.
func (t transfer) carry(ctx context.Context, s source, url, token string, modules []module) error {
	refs, err := s.git.Run(ctx, "for-each-ref", "--merged="+s.head, "--format=%(objectname) %(refname)", "refs/tags")
	if err != nil {
		return err
	}
	var specs []string
	if refs != "" {
		specs = append(specs, "+refs/tags/*:refs/tags/*")
	}
	for _, m := range modules {
		flat, err := workspace.Flat(ctx, t.git, m.Commit)
		if err != nil {
			return fmt.Errorf("submodule %s: %w", m.Path, err)
		}
		ref := workspace.ModuleRef(m.Commit)
		refs = strings.TrimSpace(refs + "\n" + flat + " " + ref)
		specs = append(specs, "+"+ref+":"+ref)
	}
	if len(specs) == 0 {
		return nil
	}
	if err := os.WriteFile(filepath.Join(t.dir, "packed-refs"), []byte(refs+"\n"), 0o600); err != nil {
		return err
	}
	_, err = t.git.WithToken(url, token).Run(ctx, slices.Concat([]string{"push", "-q", "--no-verify", "--", url}, specs)...)
	return err
}

// lacks lists the parts of the base that the work is done without: submodules that are not checked out,
// and files in Git LFS, since the history has only their pointers.
func (s source) lacks(ctx context.Context) []string {
	var said []string
	if _, missing := s.modules(ctx, s.head, ""); len(missing) > 0 {
		said = append(said, fmt.Sprintf("%s not checked out here, and the work is done without: run `git -C %s submodule update --init --recursive` first",
			counted(missing, "the submodule %s is", "the submodules %s are"), term.Quote(s.dir)))
	}
	if _, err := s.git.Run(ctx, "grep", "-q", "filter=lfs", s.head, "--", ":(glob)**/.gitattributes"); err != nil {
		return said
	}
	found, err := s.git.Run(ctx, "grep", "-l", "-I", "-e", "^version https://git-lfs", s.head)
	if err != nil || found == "" {
		return said
	}
	var names []string
	for line := range strings.Lines(found) {
		names = append(names, strings.TrimPrefix(strings.TrimSpace(line), s.head+":"))
	}
	return append(said, counted(names, "%s is in Git LFS: the work sees its pointer, not its content", "%s are in Git LFS: the work sees their pointers, not their content"))
}

// counted names a few of a list in a sentence.
func counted(names []string, one, many string) string {
	const most = 3
	if len(names) == 1 {
		return fmt.Sprintf(one, names[0])
	}
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf(many, text)
}
