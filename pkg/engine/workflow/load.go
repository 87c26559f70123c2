package workflow

import (
	"iter"
	"slices"
	"strings"
)

// Load reads one lifecycle from its YAML text; file only serves to say where. If the text
// has `extends: NAME`, it is laid over the definition of that name among bases, or else the
// built-in one. One of its own name is the built-in one.
//
// The error, if any, joins a Problem for everything that is wrong. Load proves
// that names, types and guards are sound; whether a run can end is Verify's.
func Load(file string, src []byte, bases ...*Definition) (*Definition, error) {
	d := read(file, src)
	return d.finish(func(name string) (*Definition, error) {
		for _, b := range bases {
			if b.Name == name && name != d.Name {
				return b, nil
			}
		}
		return Builtin(name)
	})
}

// draft is a definition as its file has it: not laid over another, not checked.
type draft struct {
	*Definition
	problems
}

func read(file string, src []byte) draft {
	r := &reader{file: file}
	d := &Definition{at: Position{File: file}}
	if body := r.parse(src); body != nil {
		d = r.definition(body)
	}
	return draft{d, r.problems}
}

// finish lays the draft over what it extends and checks the whole.
func (f draft) finish(base func(name string) (*Definition, error)) (*Definition, error) {
	d, ps := f.Definition, f.problems
	if d.States == nil && len(ps) > 0 {
		return nil, ps.err()
	}
	if d.Extends != "" {
		under, err := base(d.Extends)
		if err != nil {
			ps.add(d.places["extends"], "extends %q: %v", d.Extends, err)
			return nil, ps.err()
		}
		d = overlay(under, d)
	}
	return finish(d, ps)
}

// finish derives what the text leaves implicit, compiles the guards, checks and
// hashes. It owns d.
func finish(d *Definition, ps problems) (*Definition, error) {
	d.derive()
	check(d, &ps)
	c, err := newCompiler(d.Policy, d.Vars)
	if err != nil {
		return nil, err
	}
	d.compile(c, &ps)
	if len(ps) > 0 {
		return nil, ps.err()
	}
	d.Hash = hash(d)
	return d, nil
}

func (d *Definition) derive() {
	d.index = make(map[string]int, len(d.States))
	for i := range d.States {
		s := &d.States[i]
		d.index[s.Name] = i
		switch {
		case s.Kind == Final:
		case s.Owner != "":
			s.Kind = Work
		default:
			s.Kind = Wait
		}
		s.Proposes = s.Kind == Work && (s.proposes == nil || *s.proposes)
	}
	d.deriveWork()
	d.deriveFrom()
	slices.SortFunc(d.Resolves, func(a, b Resolve) int { return strings.Compare(a.Signal, b.Signal) })
	for rules := range d.rules() {
		for i := range rules {
			rules[i].Stay.After, _ = d.wait(rules[i].Stay)
		}
	}
}

// rules returns every list of rules of the definition.
func (d *Definition) rules() iter.Seq[[]Rule] {
	return func(yield func([]Rule) bool) {
		lists := [][]Rule{d.Limits}
		for _, s := range d.States {
			lists = append(lists, s.rules()...)
		}
		for _, list := range lists {
			if !yield(list) {
				return
			}
		}
	}
}

// rules lists the state's own rules: always, decide, and by signal.
func (s State) rules() [][]Rule {
	lists := [][]Rule{s.Always, s.Decide}
	for _, signal := range sortedKeys(s.On) {
		lists = append(lists, s.On[signal])
	}
	return lists
}

func (d *Definition) compile(c *compiler, ps *problems) {
	for i := range d.Order {
		d.Order[i] = c.rank(d.Order[i], ps)
	}
	for i := range d.Resolves {
		d.Resolves[i].When = c.condition(d.Resolves[i].When, ps)
	}
	for rules := range d.rules() {
		for i := range rules {
			rules[i].When = c.condition(rules[i].When, ps)
		}
	}
	for i := range d.Gates {
		d.Gates[i].Require = c.condition(d.Gates[i].Require, ps)
	}
	for _, s := range d.States {
		for i := range s.Asks {
			s.Asks[i].When = c.condition(s.Asks[i].When, ps)
		}
		for i := range s.Spawns {
			s.Spawns[i].When = c.condition(s.Spawns[i].When, ps)
		}
	}
	d.reads = c.reads
}
