package workflow

import "github.com/goccy/go-yaml/ast"

// definition reads a file's head and its states.
func (r *reader) definition(n ast.Node) *Definition {
	d := &Definition{Policy: map[string]any{}, at: r.at(n), places: map[string]Position{}}
	placed := func(key string, t setter) setter {
		return func(n ast.Node) { d.places[key] = r.at(n); t(n) }
	}
	values := func(key string, to *map[string]any) setter {
		return func(n ast.Node) {
			*to = map[string]any{}
			r.entries(n, func(name string, at Position, value ast.Node) {
				if v, ok := r.scalar(value); ok {
					(*to)[name], d.places[key+"."+name] = v, at
				}
			})
		}
	}
	r.object(n, map[string]setter{
		"workflow": placed("workflow", r.text(&d.Name)),
		"version":  r.count(&d.Version),
		"extends":  placed("extends", r.text(&d.Extends)),
		"initial":  placed("initial", r.text(&d.Initial)),
		"entries":  placed("entries", func(n ast.Node) { r.names(&d.Entries, &d.entriesAt)(n) }),
		"policy":   values("policy", &d.Policy),
		"vars":     values("vars", &d.Vars),
		"order": r.list(func(n ast.Node) {
			var g Guard
			r.guard(&g)(n)
			d.Order = append(d.Order, g)
		}),
		"may":      func(n ast.Node) { r.may(n, d) },
		"resolves": func(n ast.Node) { r.resolves(n, d) },
		"from":     func(n ast.Node) { r.readFrom(n, d) },
		"loop": placed("loop", func(n ast.Node) {
			r.object(n, map[string]setter{"window": r.count(&d.Loop.Window), "distinct": r.count(&d.Loop.Distinct)})
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

func (r *reader) may(n ast.Node, d *Definition) {
	d.May = map[string][]string{}
	r.entries(n, func(action string, at Position, value ast.Node) {
		var who []string
		var whoAt []Position
		r.names(&who, &whoAt)(value)
		d.May[action], d.places["may."+action] = who, at
		for i, name := range who {
			d.places["may."+action+"."+name] = whoAt[i]
		}
	})
}

// resolves reads guards by signal; true is the guard that always holds.
func (r *reader) resolves(n ast.Node, d *Definition) {
	r.entries(n, func(signal string, at Position, value ast.Node) {
		resolve := Resolve{Signal: signal, at: at}
		if b, ok := value.(*ast.BoolNode); ok && b.Value {
			resolve.When = Guard{Source: "true", at: r.at(value)}
		} else {
			r.guard(&resolve.When)(value)
		}
		d.Resolves = append(d.Resolves, resolve)
	})
}

func (r *reader) gate(n ast.Node) Gate {
	g := Gate{at: r.at(n)}
	r.object(n, map[string]setter{
		"name":    r.text(&g.Name),
		"to":      r.names(&g.To, &g.toAt),
		"require": r.guard(&g.Require),
		"instead": r.names(&g.Instead, &g.insteadAt),
		"reason":  r.text(&g.Reason),
	})
	return g
}
