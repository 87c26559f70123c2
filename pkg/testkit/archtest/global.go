package archtest

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// byLinker lists the variables that the linker sets (-X) and no statement writes to.
var byLinker = []string{"pkg/service.version", "pkg/service.revision"}

// globals reports package-level variables that can change. Permitted are errors
// to compare with (errX, ErrX), compiled regular expressions, embedded files, unexported
// values that sync.OnceValue computes, and unexported tables that no statement of the
// package writes to. Tests may have any.
func globals(t *tree) []Violation {
	var all []Violation
	for _, dir := range t.dirs() {
		info, patterns := t.resolve(dir), t.patterns(dir)
		changes := map[types.Object]bool{}
		for _, f := range t.in(dir) {
			maps.Copy(changes, written(f.ast, info))
		}
		for _, f := range t.in(dir) {
			for _, v := range variables(f.ast) {
				for i, name := range v.Names {
					if !constant(v, i, patterns) && !slices.Contains(byLinker, dir+"."+name.Name) || changes[info.Defs[name]] {
						all = append(all, t.at(f, name, "globals", "package variable "+name.Name+
							" can change: keep it in a value that is passed, or make it a constant, a function or an unexported table"))
					}
				}
			}
		}
	}
	return all
}

// variables returns the declarations of package-level variables in f.
func variables(f *ast.File) []*ast.ValueSpec {
	var all []*ast.ValueSpec
	for _, decl := range f.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				v := *spec.(*ast.ValueSpec)
				v.Doc = cmp.Or(v.Doc, d.Doc) // of a declaration without parentheses
				all = append(all, &v)
			}
		}
	}
	return all
}

// constant reports whether the i-th variable of v is of a permitted kind.
// patterns are the functions of the package that return a regular expression.
func constant(v *ast.ValueSpec, i int, patterns map[string]bool) bool {
	name := v.Names[i].Name
	if name == "_" {
		return true // an assertion for the compiler
	}
	if s, ok := v.Type.(*ast.SelectorExpr); ok && isPackage(s.X, "embed") {
		return true
	}
	if embedded(v.Doc) {
		return !ast.IsExported(name)
	}
	if len(v.Values) != len(v.Names) {
		return false
	}
	if strings.HasPrefix(strings.ToLower(name), "err") {
		return true
	}
	switch value := v.Values[i].(type) {
	case *ast.CallExpr:
		if f, ok := value.Fun.(*ast.Ident); ok {
			return patterns[f.Name]
		}
		s, ok := value.Fun.(*ast.SelectorExpr)
		return ok && (isPackage(s.X, "regexp") && strings.HasPrefix(s.Sel.Name, "MustCompile") ||
			isPackage(s.X, "lazyregexp") && s.Sel.Name == "New" ||
			isPackage(s.X, "strings") && s.Sel.Name == "NewReplacer" ||
			isPackage(s.X, "sync") && strings.HasPrefix(s.Sel.Name, "OnceValue") && !ast.IsExported(name))
	case *ast.CompositeLit:
		return !ast.IsExported(name)
	}
	return false
}

// embedded reports whether doc has a go:embed directive.
func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// patterns returns the names of the functions in dir that return a
// *regexp.Regexp, or a *lazyregexp.Regexp.
func (t *tree) patterns(dir string) map[string]bool {
	names := map[string]bool{}
	for _, f := range t.in(dir) {
		for _, decl := range f.ast.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Recv != nil || d.Type.Results.NumFields() != 1 {
				continue
			}
			if p, ok := d.Type.Results.List[0].Type.(*ast.StarExpr); ok {
				s, ok := p.X.(*ast.SelectorExpr)
				names[d.Name.Name] = ok && (isPackage(s.X, "regexp") || isPackage(s.X, "lazyregexp")) && s.Sel.Name == "Regexp"
			}
		}
	}
	return names
}

// resolve returns the object of each identifier, and the value of each constant, of the package in dir. It does
// not follow imports, so identifiers from them stay unresolved.
func (t *tree) resolve(dir string) *types.Info {
	var files []*ast.File
	for _, f := range t.in(dir) {
		files = append(files, f.ast)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Error: func(error) {}}
	_, _ = config.Check(dir, t.fset, files, info)
	return info
}

// written returns the objects that a statement of f assigns to, increments,
// deletes from, clears, or takes the address of.
func written(f *ast.File, info *types.Info) map[types.Object]bool {
	found := map[types.Object]bool{}
	write := func(e ast.Expr) {
		if id := rootVariable(e); id != nil {
			found[info.Uses[id]] = true
		}
	}
	ast.Inspect(f, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				write(left)
			}
		case *ast.IncDecStmt:
			write(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				write(n.X)
			}
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.Ident); ok && (fun.Name == "delete" || fun.Name == "clear") && len(n.Args) > 0 {
				write(n.Args[0])
			}
		}
		return true
	})
	return found
}

// rootVariable returns the variable x of an expression such as x[i].f, nil if it has none.
func rootVariable(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
