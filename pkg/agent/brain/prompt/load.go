package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Read returns the templates of an operator's directory, each checked; of no directory,
// an empty Set. Other files than NAME.tmpl do not count. An error names file and line.
func Read(dir string) (Set, error) {
	if dir == "" {
		return Set{}, nil
	}
	list, err := ReadDir(dir, dir)
	if err != nil {
		return Set{}, fmt.Errorf("--prompts: %w", err)
	}
	var wrong []error
	for _, t := range list {
		wrong = append(wrong, Verify(t))
	}
	if err := errors.Join(wrong...); err != nil {
		return Set{}, fmt.Errorf("--prompts: %w", err)
	}
	return Set{list}, nil
}

// ReadDir returns the templates in a directory, which the files are said to be in, as they
// are.
func ReadDir(dir, as string) ([]work.Template, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []work.Template
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), Suffix)
		if !ok || name == "" {
			continue
		}
		text, err := readFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, work.Template{Name: name, File: filepath.Join(as, e.Name()), Text: text})
	}
	return all, nil
}

// readFile returns the content of a plain file. One that is too large is cut behind the
// limit, which Verify finds.
func readFile(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no file")}
	}
	if info.Size() > maxTemplate {
		return strings.Repeat(" ", maxTemplate+1), nil
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// CheckNames returns an error for the first template of the operator whose name is no
// role, and no state of a role, of the lifecycles: nobody would ever be given it.
func (s Set) CheckNames(defs []*workflow.Definition) error {
	known := Known(defs)
	for _, t := range s.own {
		if slices.Contains(known, t.Name) {
			continue
		}
		hint := ""
		if meant := workflow.Nearest(t.Name, known); meant != "" {
			hint = "; did you mean " + meant + Suffix + "?"
		}
		return fmt.Errorf("--prompts: %s: no lifecycle has the role or state %s%s", t.File, t.Name, hint)
	}
	return nil
}

// Known returns the names that templates can have in the lifecycles, sorted.
func Known(defs []*workflow.Definition) []string {
	known := []string{Default}
	for _, d := range defs {
		known = append(known, d.Roles()...)
		for _, name := range d.StateNames() {
			if state, _ := d.State(name); state.Owner != "" {
				known = append(known, state.Owner+"."+name)
			}
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}
