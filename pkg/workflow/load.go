package workflow

import (
	"github.com/goccy/go-yaml/ast"
)

// Load reads one lifecycle from its YAML text; file only serves to say where.
// If the text has `extends: NAME`, it is laid over the definition of that name
// among bases, or else the built-in one.
//
// The error, if any, joins a Problem for everything that is wrong. Load proves
// that names, types and guards are sound; whether a run can end is Verify's.
func Load(file string, src []byte, bases ...*Definition) (*Definition, error) {
	return read(file, src).finish(func(name string) (*Definition, error) {
		for _, b := range bases {
			if b.Name == name {
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
	c, err := newCompiler(d.Policy)
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
}

func (d *Definition) compile(c *compiler, ps *problems) {
	rules := func(rs []Rule) {
		for i := range rs {
			rs[i].When = c.compile(rs[i].When, ps)
		}
	}
	rules(d.Limits)
	for i := range d.Gates {
		d.Gates[i].Require = c.compile(d.Gates[i].Require, ps)
	}
	for _, s := range d.States {
		rules(s.Decide)
		for _, signal := range sortedKeys(s.On) {
			rules(s.On[signal])
		}
	}
}

func (r *reader) definition(n ast.Node) *Definition {
	d := &Definition{Policy: map[string]any{}, at: r.at(n), places: map[string]Position{}}
	placed := func(key string, t take) take {
		return func(n ast.Node) { d.places[key] = r.at(n); t(n) }
	}
	r.object(n, map[string]take{
		"workflow": placed("workflow", r.text(&d.Name)),
		"version":  r.count(&d.Version),
		"extends":  placed("extends", r.text(&d.Extends)),
		"initial":  placed("initial", r.text(&d.Initial)),
		"policy": func(n ast.Node) {
			r.entries(n, func(name string, at Position, value ast.Node) {
				if v, ok := r.scalar(value); ok {
					d.Policy[name], d.places["policy."+name] = v, at
				}
			})
		},
		"loop": placed("loop", func(n ast.Node) {
			r.object(n, map[string]take{"window": r.count(&d.Loop.Window), "distinct": r.count(&d.Loop.Distinct)})
		}),
		"limits": r.list(func(n ast.Node) { d.Limits = append(d.Limits, r.rule(n)) }),
		"gates":  r.list(func(n ast.Node) { d.Gates = append(d.Gates, r.gate(n)) }),
		"states": func(n ast.Node) {
			r.entries(n, func(name string, at Position, value ast.Node) {
				d.States = append(d.States, r.state(name, at, value))
			})
		},
	})
	return d
}

func (r *reader) state(name string, at Position, n ast.Node) State {
	s := State{Name: name, at: at}
	var final bool
	r.object(n, map[string]take{
		"about":    r.text(&s.About),
		"owner":    r.text(&s.Owner),
		"final":    r.flag(&final),
		"timeout":  r.duration(&s.Timeout),
		"proposes": func(n ast.Node) { s.proposes = new(bool); r.flag(s.proposes)(n) },
		"next":     r.list(func(n ast.Node) { s.Next = append(s.Next, r.transition(n)) }),
		"decide":   r.list(func(n ast.Node) { s.Decide = append(s.Decide, r.rule(n)) }),
		"on": func(n ast.Node) {
			s.On = map[string][]Rule{}
			r.entries(n, func(signal string, _ Position, value ast.Node) { s.On[signal] = r.reaction(value) })
		},
	})
	if final {
		s.Kind = Final
	}
	return s
}

// transition is a state's name or {to, added}.
func (r *reader) transition(n ast.Node) Transition {
	t := Transition{at: r.at(n)}
	if _, ok := text(n); ok {
		r.text(&t.To)(n)
		return t
	}
	r.object(n, map[string]take{"to": r.text(&t.To), "added": r.text(&t.Added)})
	return t
}

func (r *reader) rule(n ast.Node) Rule {
	rule := Rule{at: r.at(n)}
	r.object(n, map[string]take{
		"name":    r.text(&rule.Name),
		"when":    r.guard(&rule.When),
		"to":      r.names(&rule.To, &rule.toAt),
		"reason":  r.text(&rule.Reason),
		"failure": r.flag(&rule.Failure),
	})
	return rule
}

// reaction is what a signal does: a state's name, or a list of rules.
func (r *reader) reaction(n ast.Node) []Rule {
	if _, ok := n.(*ast.SequenceNode); !ok {
		rule := Rule{at: r.at(n)}
		if r.names(&rule.To, &rule.toAt)(n); rule.To == nil {
			return nil
		}
		return []Rule{rule}
	}
	var rules []Rule
	r.list(func(n ast.Node) { rules = append(rules, r.rule(n)) })(n)
	return rules
}

func (r *reader) gate(n ast.Node) Gate {
	g := Gate{at: r.at(n)}
	r.object(n, map[string]take{
		"name":    r.text(&g.Name),
		"to":      r.names(&g.To, &g.toAt),
		"require": r.guard(&g.Require),
		"instead": r.names(&g.Instead, &g.insteadAt),
		"reason":  r.text(&g.Reason),
	})
	return g
}
