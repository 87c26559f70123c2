package workflow

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// LoadDir loads every *.yaml and *.yml file of the directory's top level, sorted by name. A
// file may extend another one or a built-in lifecycle; where both have the name, the file
// is meant. In that file itself the built-in lifecycle is: the file replaces it and is laid
// over it. The error joins what is wrong with every file.
func LoadDir(dir fs.FS) ([]*Definition, error) {
	set, err := readDir(dir)
	var defs []*Definition
	for _, name := range sortedKeys(set.drafts) {
		d, one := set.load(name)
		defs, err = append(defs, d), errors.Join(err, one)
	}
	if err != nil {
		return nil, err
	}
	return defs, nil
}

// dirSet is a directory's drafts by name, and what became of those asked for.
type dirSet struct {
	drafts map[string]draft
	done   map[string]outcome
}

type outcome struct {
	*Definition
	error
}

func readDir(dir fs.FS) (dirSet, error) {
	set := dirSet{map[string]draft{}, map[string]outcome{}}
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return set, fmt.Errorf("definitions: %w", err)
	}
	var errs error
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		src, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("definitions: %w", err))
			continue
		}
		d := read(e.Name(), src)
		if other, ok := set.drafts[d.Name]; ok && d.Name != "" {
			errs = errors.Join(errs, Problem{At: d.places["workflow"], Text: fmt.Sprintf("%s already defines %q", other.at.File, d.Name)})
			continue
		}
		if d.Name == "" { // it will fail, under its own problems
			set.drafts["\x00"+e.Name()] = d
			continue
		}
		set.drafts[d.Name] = d
	}
	return set, errs
}

func (s dirSet) load(name string) (*Definition, error) {
	if o, ok := s.done[name]; ok {
		return o.Definition, o.error
	}
	s.done[name] = outcome{error: errors.New("it extends itself")} // until it is loaded
	d, err := s.drafts[name].finish(func(base string) (*Definition, error) {
		if _, ok := s.drafts[base]; !ok || base == name && slices.Contains(BuiltinNames(), base) {
			return Builtin(base)
		}
		d, err := s.load(base)
		if Problems(err) != nil {
			err = errors.New("it is wrong itself") // and said to be, where it stands
		}
		return d, err
	})
	s.done[name] = outcome{d, err}
	return d, err
}
