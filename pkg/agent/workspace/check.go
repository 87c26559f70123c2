package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/secret"
)

// Rules limits the change that may leave an agent. Patterns are git's globs: **
// crosses directories; case does not matter.
type Rules struct {
	Forbidden      []string // paths no change may touch
	MaxFile        int64    // bytes of one file; 0: no limit
	SecretsAllowed []string // paths whose apparent secrets are none, such as test data
}

// DefaultRules returns rules that forbid files that run with a forge's rights or
// change what a checkout fetches, and files above 10 MiB.
func DefaultRules() Rules {
	return Rules{Forbidden: []string{".git/**", ".github/workflows/**", ".gitmodules"}, MaxFile: 10 << 20}
}

// Violation is a file or a text that must not leave. It never shows the secret.
type Violation struct {
	Rule   string // forbidden, size, link, submodule, secret
	Path   string
	Line   int // secret: in the file; else 0
	Detail string
}

func (v Violation) String() string {
	where := v.Path
	if v.Line > 0 {
		where = fmt.Sprintf("%s:%d", v.Path, v.Line)
	}
	return fmt.Sprintf("%s: %s (%s)", where, v.Detail, v.Rule)
}

// Check applies the rules to the change since the checkout or the last Commit. It
// reads the files as they are and each commit of the program, since a bundle has
// also the content that a later commit removes. No violations means the change may
// leave.
func (t *Tree) Check(ctx context.Context, rules Rules) ([]Violation, error) {
	now, err := t.state(ctx, "check\n")
	if nested := (*nestedError)(nil); errors.As(err, &nested) {
		var found []Violation
		for _, path := range nested.paths {
			found = append(found, submodule(path))
		}
		return found, nil
	}
	if err != nil || now == t.Head {
		return nil, err
	}
	steps, err := t.git.Run(ctx, "rev-list", "--reverse", t.Head+".."+now)
	if err != nil {
		return nil, infra(err, "check")
	}
	c := check{git: t.git, secrets: t.cache.secrets, steps: steps + "\n", found: map[Violation]bool{}}
	if err := c.run(ctx, rules); err != nil {
		return nil, infra(err, "check")
	}
	return c.order, nil
}

type check struct {
	git     git.Runner
	secrets *secret.Scanner
	steps   string // the commits to look at, a line each
	found   map[Violation]bool
	order   []Violation
}

// add records each violation once, since several commits may repeat it.
func (c *check) add(v Violation) {
	if !c.found[v] {
		c.found[v] = true
		c.order = append(c.order, v)
	}
}

// diff runs diff-tree over every step, merges against each parent.
func (c *check) diff(ctx context.Context, w io.Writer, args ...string) error {
	args = append([]string{"diff-tree", "--stdin", "-r", "-m", "--root", "--no-commit-id", "--no-renames"}, args...)
	return c.git.Stream(ctx, strings.NewReader(c.steps), w, args...)
}

func (c *check) run(ctx context.Context, rules Rules) error {
	for _, pattern := range rules.Forbidden {
		var out bytes.Buffer
		if err := c.diff(ctx, &out, "-z", "--name-only", "--", ":(glob,icase)"+pattern); err != nil {
			return err
		}
		for _, name := range splitZ(out.String()) {
			c.add(Violation{Rule: "forbidden", Path: name, Detail: "no change may touch " + pattern})
		}
	}
	if err := c.files(ctx, rules); err != nil {
		return err
	}
	// --text: a .gitattributes file that says "binary" would hide lines.
	args := []string{"-p", "-U0", "--text", "--no-ext-diff", "--no-textconv", "--", "."}
	for _, pattern := range rules.SecretsAllowed {
		args = append(args, ":(glob,icase,exclude)"+pattern)
	}
	s := &patchScanner{secrets: c.secrets, report: c.add}
	if err := c.diff(ctx, s, args...); err != nil {
		return err
	}
	s.flush()
	return c.messages(ctx)
}

// messages checks the commits' messages.
func (c *check) messages(ctx context.Context) error {
	for commit := range strings.FieldsSeq(c.steps) {
		text, err := c.git.Run(ctx, "log", "-1", "--format=%an <%ae>%n%cn <%ce>%n%B", commit)
		if err != nil {
			return err
		}
		for _, f := range c.secrets.Scan(text) {
			c.add(Violation{Rule: "secret", Path: "commit " + commit[:12], Detail: "its message has " + f.What()})
		}
	}
	return nil
}

// files checks the mode and the size of each file that was added or changed.
func (c *check) files(ctx context.Context, rules Rules) error {
	var out bytes.Buffer
	if err := c.diff(ctx, &out, "-z", "--raw", "--no-abbrev"); err != nil {
		return err
	}
	var ids, names []string // of plain files
	// :MODE MODE ID ID STATUS, then the path.
	for entry := range slices.Chunk(splitZ(out.String()), 2) {
		fields := strings.Fields(strings.TrimPrefix(entry[0], ":"))
		if len(entry) != 2 || len(fields) != 5 {
			return fmt.Errorf("unexpected output of git diff-tree: %q", entry)
		}
		mode, id, name := fields[1], fields[3], entry[1]
		for _, f := range c.secrets.Scan(name) {
			c.add(Violation{Rule: "secret", Path: path.Dir(name), Detail: "a name in it has " + f.What()})
		}
		switch mode {
		case "120000":
			target, err := c.git.Run(ctx, "cat-file", "blob", id)
			if err != nil {
				return err
			}
			if leads(name, target) {
				c.add(Violation{Rule: "link", Path: name, Detail: "symbolic link leads out of the tree, to " + target})
			}
		case "160000":
			c.add(submodule(name))
		case "100644", "100755":
			ids, names = append(ids, id), append(names, name)
		}
	}
	if rules.MaxFile <= 0 || len(ids) == 0 {
		return nil
	}
	out.Reset()
	if err := c.git.Stream(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), &out, "cat-file", "--batch-check=%(objectsize)"); err != nil {
		return err
	}
	for i, size := range strings.Fields(out.String()) {
		if n, err := strconv.ParseInt(size, 10, 64); err != nil {
			return err
		} else if n > rules.MaxFile {
			c.add(Violation{Rule: "size", Path: names[i], Detail: fmt.Sprintf("%d bytes, more than the %d allowed", n, rules.MaxFile)})
		}
	}
	return nil
}

func submodule(path string) Violation {
	return Violation{Rule: "submodule", Path: path, Detail: "a repository within the repository: its files would be lost"}
}

// leads reports whether the link leads out of the tree or into its repository.
func leads(name, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	end := path.Join(path.Dir(name), target)
	first, _, _ := strings.Cut(end, "/")
	return first == ".." || strings.EqualFold(first, ".git")
}

func splitZ(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\x00"), "\x00")
}
