package workflow

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/ext"
)

// costLimit bounds one evaluation of a guard that loops, in CEL's cost units.
// One that does not is bounded by its own length, and counting would double its
// time.
const costLimit = 100_000

// compiler type-checks guards against Facts and one policy.
type compiler struct {
	env    *cel.Env
	policy map[string]any
	names  []string // of the policy
	fields []string // of the facts, for suggestions

	done map[string]Guard // by source: lifecycles say the same thing often
}

func newCompiler(policy map[string]any) (*compiler, error) {
	c := &compiler{policy: make(map[string]any, len(policy)), done: map[string]Guard{}}
	var types []any
	var options []cel.EnvOption
	facts := reflect.TypeFor[Facts]()
	for field := range facts.Fields() {
		name := field.Tag.Get("cel")
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
	for name, value := range policy {
		c.names = append(c.names, name)
		c.policy["policy."+name] = value
		options = append(options, cel.Variable("policy."+name, policyType(value)))
	}
	slices.Sort(c.names)
	types = append(types, ext.ParseStructTag("cel"))
	env, err := cel.NewEnv(append([]cel.EnvOption{ext.NativeTypes(types...)}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	c.env = env
	return c, nil
}

func policyType(value any) *cel.Type {
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

// compile turns the guard's source into its program.
func (c *compiler) compile(g Guard, ps *problems) Guard {
	if g.Always() {
		return g
	}
	if same, ok := c.done[g.Source]; ok {
		same.at = g.at
		return same
	}
	parsed, issues := c.env.Parse(g.Source)
	if issues.Err() != nil {
		c.report(g, issues, ps)
		return g
	}
	if c.unknownPolicy(g, parsed, ps) {
		return g
	}
	checked, issues := c.env.Check(parsed)
	if issues.Err() != nil {
		c.report(g, issues, ps)
		return g
	}
	if kind := checked.OutputType(); !kind.IsExactType(cel.BoolType) {
		ps.add(g.at, "guard %q is of type %s, want bool", g.Source, kind)
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
	g.checked, g.program, g.policy = checked, program, c.policy
	c.done[g.Source] = g
	return g
}

// unknownPolicy reports reads of policy.NAME that nothing declares: CEL itself
// would only say that it does not know "policy".
func (c *compiler) unknownPolicy(g Guard, parsed *cel.Ast, ps *problems) bool {
	found := false
	info := parsed.NativeRep().SourceInfo()
	visit(parsed, func(e celast.Expr) {
		if e.Kind() != celast.SelectKind || !isIdent(e.AsSelect().Operand(), "policy") {
			return
		}
		if name := e.AsSelect().FieldName(); !slices.Contains(c.names, name) {
			found = true
			start := info.GetStartLocation(e.AsSelect().Operand().ID())
			ps.unknown(g.inside(start.Line(), start.Column()), "policy", name, c.names)
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

var quoted = regexp.MustCompile(`(?:undeclared reference to|undefined field) '([^']+)'`)

func (c *compiler) report(g Guard, issues *cel.Issues, ps *problems) {
	for _, e := range issues.Errors() {
		text, _, _ := strings.Cut(e.Message, " (in container")
		text, _, _ = strings.Cut(text, " (did you mean") // it has some of our suggestions, in other words
		text, _, _ = strings.Cut(text, " expecting {")   // every token there is
		p := Problem{At: g.inside(e.Location.Line(), e.Location.Column()), Text: fmt.Sprintf("guard %q: %s", g.Source, text)}
		if name := quoted.FindStringSubmatch(text); name != nil {
			p.Meant = nearest(name[1], c.fields)
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
