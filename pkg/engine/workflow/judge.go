package workflow

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// given is something that a guard reads and that a role or a person gives. An empty name of
// evidence stands for all: the guard computes it.
type given struct{ kind, name string }

// String is how people call it.
func (g given) String() string {
	switch {
	case g.kind == GivenAnswers:
		return "answers to people's questions"
	case g.name == "":
		return "evidence of a computed name"
	}
	return g.kind + " " + g.name
}

// rests finds what an expression reads that roles or people give.
func rests(checked *cel.Ast, evidence []string) []given {
	var all []given
	add := func(kind, name string) {
		if g := (given{kind, name}); !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	for _, name := range evidence {
		add(GivenEvidence, name)
	}
	named := 0
	reads := 0
	visit(checked, func(e celast.Expr) {
		switch {
		case isIdent(e, "evidence"):
			reads++
		case e.Kind() == celast.IdentKind:
			if name, ok := strings.CutPrefix(e.AsIdent(), "vars."); ok {
				add(GivenVar, name)
			}
		case e.Kind() == celast.SelectKind:
			switch of, field := e.AsSelect().Operand(), e.AsSelect().FieldName(); {
			case isIdent(of, "instance") && field == "open_questions":
				add(GivenAnswers, "")
			case isIdent(of, "evidence"):
				named++
			}
		case e.Kind() == celast.CallKind:
			call, of, name := binary(e)
			if call == operators.In {
				of, name = name, of
			}
			if (call != operators.In && call != operators.Index) || !isIdent(of, "evidence") {
				return
			}
			if _, ok := literal(name); ok {
				named++
			}
		}
	})
	if reads > named {
		add(GivenEvidence, "")
	}
	return all
}

// factsOf lists the facts that an expression reads: instance by its fields.
func factsOf(checked *cel.Ast) []string {
	var all []string
	fields := 0
	visit(checked, func(e celast.Expr) {
		switch {
		case e.Kind() == celast.SelectKind && isIdent(e.AsSelect().Operand(), "instance"):
			all, fields = append(all, "instance."+e.AsSelect().FieldName()), fields+1
		case isIdent(e, "instance"):
			fields--
		case e.Kind() == celast.IdentKind && !strings.HasPrefix(e.AsIdent(), "policy.") && !strings.HasPrefix(e.AsIdent(), "vars."):
			all = append(all, e.AsIdent())
		}
	})
	if fields != 0 {
		all = append(all, "instance")
	}
	return all
}

// judges proves that nobody gives what decides a move of their own work. A rule, a limit or
// a gate may read evidence, variables and answers. No role that writes the code may give
// those, unless the definition says with `self` why it may.
func (v *verifier) judges() {
	seen := map[given]bool{}
	decides := func(g Guard, where string) {
		for _, read := range g.rests {
			if !seen[read] {
				seen[read] = true
				v.judged(read, g, where)
			}
		}
	}
	for _, l := range v.Limits {
		decides(l.When, "limit "+l.Name)
	}
	for _, g := range v.Gates {
		decides(g.Require, "gate "+g.Name)
	}
	for _, s := range v.States {
		for _, rules := range s.rules() {
			for _, r := range rules {
				decides(r.When, s.Name)
			}
		}
	}
	for _, r := range v.Resolves {
		decides(r.When, "resolves "+r.Signal)
	}
}

// judged names who may give what a guard reads and is judged by it.
func (v *verifier) judged(read given, g Guard, where string) {
	if read.kind == GivenEvidence && read.name == "" {
		v.add(g.at, "%s rests on %s (guard %q): want names, for only those have known givers", where, read, g.Source)
		return
	}
	named, _ := v.gives.givers(read.kind, read.name)
	for _, role := range v.allRoles() {
		state := v.WritesCode(role)
		giver := Giver{at: v.workPlace(role, read)}
		if i := slices.IndexFunc(named, func(g Giver) bool { return g.Role == role }); i >= 0 {
			giver = named[i]
		}
		if state == "" || giver.Self != "" || !v.givesAnywhere(role, read) {
			continue
		}
		v.add(giver.at, "%s decides a move (%s), and %s may give it, whose work is judged by it: it writes the code in %s; "+
			"let another role give it, or say why not: from: {%s}", read, where, role, state, selfText(read, role))
	}
}

// givesAnywhere reports whether the role may give something in any of its states.
func (v *verifier) givesAnywhere(role string, read given) bool {
	return slices.ContainsFunc(v.States, func(s State) bool {
		_, asked := s.Answers[role]
		return s.Owner == role && v.Gives(s.Name, role, false, read.kind, read.name) ||
			asked && v.Gives(s.Name, role, true, read.kind, read.name)
	})
}

// workPlace is where the definition has the role run a check, or give what nobody is
// named for.
func (v *verifier) workPlace(role string, read given) Position {
	for _, s := range v.States {
		if s.Owner == role && slices.Contains(s.Work.evidence(), read.name) {
			return place(s, "work.runs")
		}
		if slices.Contains(s.Answers[role].evidence(), read.name) {
			return place(s, "answers."+role+".runs")
		}
	}
	for _, s := range v.States {
		if s.Owner == role {
			return s.at
		}
	}
	return v.at
}

func place(s State, key string) Position {
	if at, ok := s.workAt[key]; ok {
		return at
	}
	return s.at
}

func selfText(read given, role string) string {
	giver := "[{role: " + role + ", self: WHY}]"
	group, name, found := strings.Cut(fromKey(read.kind, read.name), ".")
	if !found {
		return group + ": " + giver
	}
	return group + ": {" + name + ": " + giver + "}"
}
