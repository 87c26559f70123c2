package workflow

import (
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// From lists the statements that roles may make. A name that is not in it, and all answers if it
// has none, may come from those that Definition.Gives names without it.
type From struct {
	Evidence map[string][]Giver // by name of the check
	Vars     map[string][]Giver // by variable
	Answers  []Giver            // to questions to people

	at map[string]Position // of keys: "evidence.NAME", "vars.NAME", "answers"
}

// Giver is one role that may give something, or Human for the signals of people.
type Giver struct {
	Role string
	Self string // why it may judge its own work; empty: it does not

	at Position
}

// The kinds of what is given.
const (
	GivenEvidence = "evidence"
	GivenVar      = "variable"
	GivenAnswers  = "answers"
)

// Gives reports whether the definition lets a role give something while it works in
// a state, or while it is asked something there. kind is GivenEvidence, GivenVar or
// GivenAnswers; name is that of the check or variable. Signals give as Human.
//
//   - Checks that the work of some state runs come from that state's work alone, and
//     only from roles that `from` names, if it names any.
//   - Anything else that `from` names comes from whom it names; answers not from who is
//     asked something else.
//   - Answers come from the roles whose work is to read them, if there are such.
//   - What is left comes from every role but those that write the code, and from Human.
func (d *Definition) Gives(state, role string, asked bool, kind, name string) bool {
	named, says := d.gives.givers(kind, name)
	if says && !slices.ContainsFunc(named, func(g Giver) bool { return g.Role == role }) {
		return false
	}
	switch {
	case kind == GivenEvidence && d.runs[name]:
		return role != Human && slices.Contains(d.WorkOf(state, role, asked).evidence(), name) || says && d.runsNowhere(role, name)
	case says:
		return kind != GivenAnswers || !asked
	case kind == GivenAnswers && len(d.readers) > 0:
		return !asked && d.readers[role]
	}
	return d.WritesCode(role) == ""
}

// Givers says for people who may give something: "tester in running_tests".
func (d *Definition) Givers(kind, name string) []string {
	var all []string
	for _, role := range append(d.allRoles(), Human) {
		var in []string
		everywhere := true
		for _, s := range d.States {
			for _, asked := range []bool{false, true} {
				_, answers := s.Answers[role]
				if (asked && !answers) || (!asked && s.Owner != role) {
					continue
				}
				if d.Gives(s.Name, role, asked, kind, name) {
					in = append(in, s.Name)
				} else {
					everywhere = false
				}
			}
		}
		switch {
		case role == Human && kind != GivenAnswers && d.Gives("", Human, false, kind, name):
			all = append(all, Human)
		case role != Human && len(in) > 0 && everywhere:
			all = append(all, role)
		case len(in) > 0:
			all = append(all, role+" in "+strings.Join(slices.Compact(in), ", "))
		}
	}
	return all
}

// WritesCode returns a state in which the work of the role is judged by the code that
// it leaves; empty if there is none.
func (d *Definition) WritesCode(role string) string { return d.writers[role] }

// Writers lists the roles that write the code, sorted.
func (d *Definition) Writers() []string { return sortedKeys(d.writers) }

// Testers lists the roles whose work is to write tests, sorted.
func (d *Definition) Testers() []string {
	testers := map[string]bool{}
	for _, s := range d.States {
		if s.Work.Does == WriteTests {
			testers[s.Owner] = true
		}
	}
	return sortedKeys(testers)
}

// Checks lists the names of the checks that the work of some state runs, sorted.
func (d *Definition) Checks() []string { return sortedKeys(d.runs) }

// allRoles lists the owners and those that are asked something, each once.
func (d *Definition) allRoles() []string {
	roles := d.Roles()
	for _, s := range d.States {
		for _, role := range sortedKeys(s.Answers) {
			if !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
		}
	}
	return roles
}

// runsNowhere reports whether no work of the role runs the check.
func (d *Definition) runsNowhere(role, check string) bool {
	return !slices.ContainsFunc(d.States, func(s State) bool {
		return s.Owner == role && slices.Contains(s.Work.evidence(), check) || slices.Contains(s.Answers[role].evidence(), check)
	})
}

// deriveFrom gathers from the states' work what Gives asks for often.
func (d *Definition) deriveFrom() {
	d.runs, d.writers, d.readers = map[string]bool{}, map[string]string{}, map[string]bool{}
	note := func(s State, role string, w WorkSpec) {
		for _, check := range w.evidence() {
			d.runs[check] = true
		}
		if w.WritesCode() && d.writers[role] == "" {
			d.writers[role] = s.Name
		}
	}
	for _, s := range d.States {
		note(s, s.Owner, s.Work)
		for role, w := range s.Answers {
			note(s, role, w)
		}
		if s.Work.readsAnswers() {
			d.readers[s.Owner] = true
		}
	}
}

// evidence lists the checks that the work makes.
func (w WorkSpec) evidence() []string {
	switch w.Does {
	case TendPullRequest:
		return []string{"acceptance"} // as pending: it asks for another run
	case WriteTests:
		return []string{"red"}
	}
	switch w.Runs {
	case RunsTests:
		return []string{checkTests}
	case RunsChecks:
		return []string{checkTests, "lint", "type_check", "build"}
	case RunsCriteria:
		return []string{"acceptance", checkTests}
	}
	return nil
}

// checkTests is the check that runs a repository's tests.
const checkTests = "tests"

// readsAnswers reports whether the work is to read what people said.
func (w WorkSpec) readsAnswers() bool { return w.Does == ReadAnswers || w.Does == ReadDecision }

// Named returns the roles that `from` names for something; says reports whether it
// names any.
func (d *Definition) Named(kind, name string) (roles []string, says bool) {
	named, says := d.gives.givers(kind, name)
	return each(named, func(g Giver) string { return g.Role }), says
}

// givers returns who is named for something; says reports whether anybody is.
func (f *From) givers(kind, name string) (named []Giver, says bool) {
	if f == nil {
		return nil, false
	}
	switch kind {
	case GivenEvidence:
		named, says = f.Evidence[name]
	case GivenVar:
		named, says = f.Vars[name]
	case GivenAnswers:
		named, says = f.Answers, f.Answers != nil
	}
	return named, says
}

// fromKey is where the givers of something are in the text.
func fromKey(kind, name string) string {
	switch kind {
	case GivenEvidence:
		return "evidence." + name
	case GivenVar:
		return "vars." + name
	}
	return "answers"
}

// readFrom reads who may give what.
func (r *reader) readFrom(n ast.Node, d *Definition) {
	d.gives = &From{at: map[string]Position{}}
	byName := func(group string, to *map[string][]Giver) setter {
		return func(n ast.Node) {
			*to = map[string][]Giver{}
			r.entries(n, func(name string, at Position, value ast.Node) {
				(*to)[name], d.gives.at[group+"."+name] = r.givers(value), at
			})
		}
	}
	r.object(n, map[string]setter{
		"evidence": byName("evidence", &d.gives.Evidence),
		"vars":     byName("vars", &d.gives.Vars),
		"answers": func(n ast.Node) {
			d.gives.Answers, d.gives.at["answers"] = r.givers(n), r.at(n)
		},
	})
}

// givers is a role, or a list of roles and of {role, self}.
func (r *reader) givers(n ast.Node) []Giver {
	if s, ok := n.(*ast.SequenceNode); ok {
		all := []Giver{}
		for _, v := range s.Values {
			all = append(all, r.giver(v))
		}
		return all
	}
	return []Giver{r.giver(n)}
}

func (r *reader) giver(n ast.Node) Giver {
	g := Giver{at: r.at(n)}
	if _, ok := text(n); ok {
		r.text(&g.Role)(n)
		return g
	}
	r.object(n, map[string]setter{"role": r.text(&g.Role), "self": r.text(&g.Self)})
	return g
}

// from checks that there is what is given, and that there are those who give it.
func (c checker) from() {
	f := c.d.gives
	if f == nil {
		return
	}
	known := append(c.d.allRoles(), Human)
	check := func(kind, name string, givers []Giver) {
		at := f.at[fromKey(kind, name)]
		if len(givers) == 0 {
			c.add(at, "nobody gives %s %s: want a role or %s", kind, name, Human)
		}
		for i, g := range givers {
			switch {
			case g.Role == "":
				c.add(g.at, "a giver without a role: want ROLE, or {role: ROLE, self: why it may judge its own work}")
			case !slices.Contains(known, g.Role):
				c.unknown(g.at, "role", g.Role, known)
			case slices.ContainsFunc(givers[:i], func(o Giver) bool { return o.Role == g.Role }):
				c.add(g.at, "%s gives %s %s already", g.Role, kind, name)
			}
		}
	}
	for _, name := range sortedKeys(f.Evidence) {
		c.token("evidence", name, f.at[fromKey(GivenEvidence, name)])
		check(GivenEvidence, name, f.Evidence[name])
	}
	for _, name := range sortedKeys(f.Vars) {
		if _, ok := c.d.Vars[name]; !ok {
			c.unknown(f.at[fromKey(GivenVar, name)], "var", name, sortedKeys(c.d.Vars))
		}
		check(GivenVar, name, f.Vars[name])
	}
	if f.Answers != nil {
		check(GivenAnswers, "to people", f.Answers)
	}
}

// write writes it as the definition has it.
func (f *From) write(w *writer) {
	if f == nil {
		return
	}
	w.line(0, "from:")
	start := w.Len()
	group := func(key string, all map[string][]Giver) {
		if len(all) > 0 {
			w.line(1, "%s:", key)
		}
		for _, name := range sortedKeys(all) {
			w.line(2, "%s: %s", scalar(name), giversText(all[name]))
		}
	}
	group("evidence", f.Evidence)
	group("vars", f.Vars)
	if f.Answers != nil {
		w.line(1, "answers: %s", giversText(f.Answers))
	}
	if w.Len() == start {
		w.Truncate(w.Len() - 1)
		w.WriteString(" {}\n")
	}
}

func giversText(all []Giver) string {
	texts := each(all, func(g Giver) string {
		if g.Self == "" {
			return scalar(g.Role)
		}
		return "{role: " + scalar(g.Role) + ", self: " + scalar(g.Self) + "}"
	})
	if len(all) == 1 && all[0].Self == "" {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// laidFrom lays over over f, by name.
func laidFrom(f, over *From) *From {
	if f == nil || over == nil {
		if over == nil {
			return f
		}
		return over
	}
	laid := &From{laid(maps.Clone(f.Evidence), over.Evidence), laid(maps.Clone(f.Vars), over.Vars), f.Answers, laid(maps.Clone(f.at), over.at)}
	if over.Answers != nil {
		laid.Answers = over.Answers
	}
	return laid
}
