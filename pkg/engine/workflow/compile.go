package workflow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/ext"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// costLimit bounds one evaluation of a guard that loops, in CEL's cost units.
// One that does not is bounded by its own length, and counting would double its
// time.
const costLimit = 100_000

// compiler type-checks guards against Facts, one policy and one set of variables.
type compiler struct {
	env    *cel.Env
	given  map[string]any      // values by full name: "policy.NAME", "vars.NAME"
	names  map[string][]string // "policy" and "vars": what is declared
	fields []string            // of the facts, for suggestions

	done  map[string]Guard // by type and source: lifecycles say the same thing often
	reads map[string]bool  // what takes something to gather, and a guard may read
}

func newCompiler(policy, vars map[string]any) (*compiler, error) {
	c := &compiler{given: map[string]any{}, names: map[string][]string{}, done: map[string]Guard{}, reads: map[string]bool{}}
	var types []any
	var options []cel.EnvOption
	facts := reflect.TypeFor[Facts]()
	for field := range facts.Fields() {
		name := field.Tag.Get("cel")
		if name == "-" {
			continue
		}
		c.fields = append(c.fields, name)
		group, kind := field.Type, (*cel.Type)(nil)
		if group.Kind() == reflect.Map {
			group = group.Elem()
			kind = cel.MapType(cel.StringType, cel.ObjectType(group.String()))
		} else {
			kind = cel.ObjectType(group.String())
		}
		for inner := range group.Fields() {
			c.fields = append(c.fields, inner.Tag.Get("cel"))
		}
		types = append(types, group)
		options = append(options, cel.Variable(name, kind))
	}
	for group, values := range map[string]map[string]any{"policy": policy, "vars": vars} {
		c.names[group] = sortedKeys(values)
		for name, value := range values {
			full := group + "." + name
			c.given[full] = value
			options = append(options, cel.Variable(full, valueType(value)))
		}
	}
	types = append(types, ext.ParseStructTag("cel"))
	env, err := cel.NewEnv(append([]cel.EnvOption{ext.NativeTypes(types...)}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	c.env = env
	return c, nil
}

func valueType(value any) *cel.Type {
	switch value.(type) {
	case bool:
		return cel.BoolType
	case int64:
		return cel.IntType
	case float64:
		return cel.DoubleType
	}
	return cel.StringType
}

// kindOf names the type of a value, and says how people write it.
func kindOf(value any) string {
	if _, is := value.(bool); is { // a text such as yes, no, on or off is none
		return "bool: write true or false"
	}
	return valueType(value).String()
}

// condition compiles a guard that holds or does not.
func (c *compiler) condition(g Guard, ps *problems) Guard {
	if g.Always() {
		return g
	}
	return c.compile(g, cel.BoolType, ps)
}

// rank compiles an expression that orders ready work. There is no result and no
// signal when it is asked.
func (c *compiler) rank(g Guard, ps *problems) Guard {
	ranked := c.compile(g, cel.IntType, ps)
	if ranked.checked == nil {
		return ranked
	}
	visit(ranked.checked, func(e celast.Expr) {
		if isIdent(e, "result") || isIdent(e, "signal") {
			ps.add(g.at, "order %q reads %s: work that is ready has none yet", g.Source, e.AsIdent())
		}
	})
	return ranked
}

// compile turns the source into a program that gives a value of the type.
func (c *compiler) compile(g Guard, want *cel.Type, ps *problems) Guard {
	key := want.String() + " " + g.Source
	if same, ok := c.done[key]; ok {
		same.at = g.at
		return same
	}
	parsed, issues := c.env.Parse(g.Source)
	if issues.Err() != nil {
		c.report(g, issues, ps)
		return g
	}
	if c.undeclared(g, parsed, ps) {
		return g
	}
	checked, issues := c.env.Check(parsed)
	if issues.Err() != nil {
		c.report(g, issues, ps)
		return g
	}
	if kind := checked.OutputType(); !kind.IsExactType(want) {
		ps.add(g.at, "guard %q is of type %s, want %s", g.Source, kind, want)
		return g
	}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if loops(checked) {
		options = append(options, cel.CostLimit(costLimit))
	}
	program, err := c.env.Program(checked, options...)
	if err != nil {
		ps.add(g.at, "guard %q: %v", g.Source, err)
		return g
	}
	g.checked, g.program, g.given = checked, program, c.given
	g.cites, g.unasked = cites(checked), unasked(checked)
	g.rests, g.facts = rests(checked, g.cites), factsOf(checked)
	c.done[key] = g
	for _, fact := range []string{"evidence", "failures_in", "previous_states", "visits"} {
		c.reads[fact] = c.reads[fact] || strings.Contains(g.Source, fact)
	}
	return g
}

// undeclared reports reads of policy.NAME and vars.NAME that nothing declares:
// CEL itself would only say that it does not know "policy".
func (c *compiler) undeclared(g Guard, parsed *cel.Ast, ps *problems) bool {
	found := false
	info := parsed.NativeRep().SourceInfo()
	visit(parsed, func(e celast.Expr) {
		if e.Kind() != celast.SelectKind || e.AsSelect().Operand().Kind() != celast.IdentKind {
			return
		}
		group := e.AsSelect().Operand().AsIdent()
		declared, ok := c.names[group]
		if name := e.AsSelect().FieldName(); ok && !slices.Contains(declared, name) {
			found = true
			start := info.GetStartLocation(e.AsSelect().Operand().ID())
			ps.unknown(g.inside(start.Line(), start.Column()), strings.TrimSuffix(group, "s"), name, declared)
		}
	})
	return found
}

// loops reports whether the guard has a macro over a list or map: CEL has no
// other way to repeat itself.
func loops(checked *cel.Ast) bool {
	found := false
	visit(checked, func(e celast.Expr) { found = found || e.Kind() == celast.ComprehensionKind })
	return found
}

func visit(a *cel.Ast, each func(celast.Expr)) {
	celast.PostOrderVisit(a.NativeRep().Expr(), celast.NewExprVisitor(each))
}

func isIdent(e celast.Expr, name string) bool {
	return e.Kind() == celast.IdentKind && e.AsIdent() == name
}

var quoted = lazyregexp.New(`(?:undeclared reference to|undefined field) '([^']+)'`)

func (c *compiler) report(g Guard, issues *cel.Issues, ps *problems) {
	for _, e := range issues.Errors() {
		text, _, _ := strings.Cut(e.Message, " (in container")
		text, _, _ = strings.Cut(text, " (did you mean") // it has some of our suggestions, in other words
		text, _, _ = strings.Cut(text, " expecting {")   // every token there is
		p := Problem{At: g.inside(e.Location.Line(), e.Location.Column()), Text: fmt.Sprintf("guard %q: %s", g.Source, text)}
		if name := quoted.FindStringSubmatch(text); name != nil {
			p.Meant = Nearest(name[1], c.fields)
		}
		*ps = append(*ps, p)
	}
}

// inside is the place of a line (from 1) and column (from 0) of the guard's
// text. A text that spans lines is known by its first.
func (g Guard) inside(line, column int) Position {
	at := g.at
	if line == 1 && at.Column > 0 {
		at.Column += column
	}
	return at
}
