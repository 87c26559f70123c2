package workflow

import (
	"maps"
	"reflect"
	"strings"

	celast "cel.dev/cel-go/common/ast"
)

// Values returns what the guard reads of the facts, by the names in it: "result.status",
// "policy.sure", "evidence.tests". Texts that people wrote are whole.
func (g Guard) Values(f *Facts) map[string]any {
	values := map[string]any{}
	if g.checked == nil {
		return values
	}
	maps.Copy(values, factsOfEvidence(f, g.cites))
	visit(g.checked, func(e celast.Expr) {
		switch {
		case e.Kind() == celast.SelectKind && e.AsSelect().Operand().Kind() == celast.IdentKind:
			group, field := e.AsSelect().Operand().AsIdent(), e.AsSelect().FieldName()
			if value, ok := fieldOf(f, group, field); ok {
				values[group+"."+field] = value
			}
		case e.Kind() == celast.IdentKind && isGiven(e.AsIdent()):
			values[e.AsIdent()], _ = (&reading{f, g.given}).ResolveName(e.AsIdent())
		}
	})
	return values
}

func isGiven(name string) bool {
	return strings.HasPrefix(name, "policy.") || strings.HasPrefix(name, "vars.")
}

// factsOfEvidence returns the verdicts of checks, and whether tests show the change.
func factsOfEvidence(f *Facts, names []string) map[string]any {
	values := map[string]any{}
	for _, name := range names {
		e, ok := f.Evidence[name]
		switch {
		case !ok:
			values["evidence."+name] = "none"
		case e.Shown:
			values["evidence."+name] = e.Verdict + " on " + e.Commit + ", shown"
		case e.Unproven != "":
			values["evidence."+name] = e.Verdict + " on " + e.Commit + ", unproven: " + e.Unproven
		default:
			values["evidence."+name] = e.Verdict + " on " + e.Commit
		}
	}
	return values
}

// fieldOf returns a field of a group of facts, by its cel tags.
func fieldOf(f *Facts, group, field string) (any, bool) {
	of, ok := tagged(reflect.ValueOf(f).Elem(), group)
	if !ok || of.Kind() != reflect.Struct {
		return nil, false
	}
	value, ok := tagged(of, field)
	if !ok {
		return nil, false
	}
	return value.Interface(), true
}

func tagged(of reflect.Value, tag string) (reflect.Value, bool) {
	for i := range of.NumField() {
		if of.Type().Field(i).Tag.Get("cel") == tag {
			return of.Field(i), true
		}
	}
	return reflect.Value{}, false
}
