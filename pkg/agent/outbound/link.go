package outbound

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
)

// links checks the symbolic links of each commit that adds or changes one. A link
// may lead out by others, so all of a commit's links are followed together. Those
// that a parent has as well are not its own.
func (s *commits) links(ctx context.Context) error {
	touched := map[string]bool{}
	for _, merges := range []bool{false, true} {
		all, err := s.changes(ctx, merges)
		if err != nil {
			return err
		}
		for _, f := range all {
			if f.mode == "120000" {
				touched[f.commit] = true
			}
		}
	}
	for _, c := range s.all {
		if !touched[c.id] && len(c.parents) < 2 {
			continue
		}
		now, err := s.linksOf(ctx, c.id)
		if err != nil {
			return err
		}
		bad := now.leading()
		for _, parent := range c.parents {
			if len(bad) == 0 {
				break
			}
			was, err := s.linksOf(ctx, parent)
			if err != nil {
				return err
			}
			for name := range was.leading() {
				if was[name] == now[name] {
					delete(bad, name)
				}
			}
		}
		for name := range bad {
			s.add(Finding{Rule: "link", Commit: c.id, Path: name, Detail: "symbolic link leads out of the tree, to " + now[name]})
		}
	}
	return nil
}

// links are the symbolic links of a tree: targets by path.
type links map[string]string

// maxLinks is how many links of a tree are followed.
const maxLinks = 10_000

func (s *commits) linksOf(ctx context.Context, commit string) (links, error) {
	var out bytes.Buffer
	if err := s.git.Stream(ctx, nil, &out, "ls-tree", "-r", "-z", "--full-tree", commit); err != nil {
		return nil, err
	}
	var names []string
	var ids strings.Builder
	for _, entry := range splitZ(out.String()) {
		head, name, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(head); len(f) == 3 && f[0] == "120000" {
			names = append(names, name)
			fmt.Fprintln(&ids, f[2])
		}
	}
	if len(names) > maxLinks {
		return nil, fmt.Errorf("commit %s has %d symbolic links, more than %d", commit, len(names), maxLinks)
	}
	if len(names) == 0 {
		return nil, nil
	}
	out.Reset()
	if err := s.git.Stream(ctx, strings.NewReader(ids.String()), &out, "cat-file", "--batch=%(objectsize)"); err != nil {
		return nil, err
	}
	all := links{}
	for _, name := range names {
		line, err := out.ReadString('\n')
		var size int
		if _, scan := fmt.Sscan(line, &size); err != nil || scan != nil || size < 0 || size >= out.Len() {
			return nil, fmt.Errorf("unexpected output of git cat-file: %q", line)
		}
		all[name] = string(out.Next(size))
		out.Next(1)
	}
	return all, nil
}

// leading returns the links that lead out of the tree, or into its repository.
func (l links) leading() map[string]bool {
	bad := map[string]bool{}
	for name := range l {
		if l.leads(name) {
			bad[name] = true
		}
	}
	return bad
}

// maxHops is how many links a path may lead through, as in the kernel.
const maxHops = 40

// leads follows a link as a kernel does: component by component, and through each
// link on the way. One that never ends leads nowhere.
func (l links) leads(name string) bool {
	at := []string{} // the directory reached
	todo := strings.Split(name, "/")
	for hops := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			if len(at) == 0 {
				return true
			}
			at = at[:len(at)-1]
			continue
		case strings.EqualFold(part, ".git"):
			return true
		}
		target, isLink := l[path.Join(append(at[:len(at):len(at)], part)...)]
		if !isLink {
			at = append(at[:len(at):len(at)], part)
			continue
		}
		if hops++; hops > maxHops {
			return false
		}
		if path.IsAbs(target) {
			return true
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return false
}
