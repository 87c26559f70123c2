package reproduce

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var modulePath = lazyregexp.New(`(?m)^module\s+"?([^\s"]+)"?`)

// goFunc is a function of the tree that a report calls.
type goFunc struct {
	dir, pkg string
	decl     *ast.FuncDecl
}

// goTest writes a Go test. The function returns one value, or one and an error.
func goTest(tree fs.FS, r Report, p pair) (Test, bool) {
	expr, err := parser.ParseExpr(p.call)
	if err != nil {
		return Test{}, false
	}
	c, ok := expr.(*ast.CallExpr)
	if !ok {
		return Test{}, false
	}
	pkg, name := "", ""
	switch fun := c.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok {
			pkg, name = x.Name, fun.Sel.Name
		}
	}
	for _, arg := range c.Args {
		if !goLiteral(arg) {
			return Test{}, false
		}
	}
	f, found := goFind(tree, pkg, name)
	if !found {
		return Test{}, false
	}
	values, fails := results(f.decl)
	if values != 1 {
		return Test{}, false
	}
	return goFile(tree, r, p, f, fails)
}

// goFile writes the test in a package of its own where another package can call the function.
func goFile(tree fs.FS, r Report, p pair, f goFunc, fails bool) (Test, bool) {
	_, args, _ := strings.Cut(p.call, "(")
	var imports, expr string
	pkg := f.pkg
	if module := goModule(tree, f.dir); ast.IsExported(f.decl.Name.Name) && f.pkg != "main" && module != "" {
		imports = strconv.Quote(module)
		if path.Base(module) != f.pkg {
			imports = f.pkg + " " + imports
		}
		pkg, expr = f.pkg+"_test", f.pkg+"."+f.decl.Name.Name+"("+args
	} else {
		expr = f.decl.Name.Name + "(" + args
	}
	want := p.want
	if s, err := strconv.Unquote(want); err == nil {
		want = s
	}
	t := Test{Name: "Test" + camel(r), Path: free(tree, f.dir, "reported_"+strings.ToLower(snake(r)), "_test.go")}
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\"fmt\"\n\"testing\"\n\n%s\n)\n\n", pkg, imports)
	fmt.Fprintf(&b, "// The report names this call and its right result.\nfunc %s(t *testing.T) {\n", t.Name)
	if fails {
		fmt.Fprintf(&b, "got, err := %s\nif err != nil {\nt.Fatal(err)\n}\n", expr)
	} else {
		fmt.Fprintf(&b, "got := %s\n", expr)
	}
	fmt.Fprintf(&b, "if got, want := fmt.Sprint(got), %s; got != want {\nt.Errorf(\"%%s is %%s, want %%s\", %s, got, want)\n}\n}\n", strconv.Quote(want), strconv.Quote(p.call))
	content, err := format.Source([]byte(b.String()))
	t.Content = string(content)
	return t, err == nil
}

// goLiteral reports whether an argument consists of literals of built-in types.
func goLiteral(arg ast.Expr) bool {
	safe := true
	ast.Inspect(arg, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.BasicLit, *ast.CompositeLit, *ast.KeyValueExpr, *ast.ArrayType, *ast.MapType, *ast.ParenExpr, *ast.InterfaceType, *ast.FieldList:
		case *ast.UnaryExpr:
			safe = safe && (n.Op == token.SUB || n.Op == token.ADD || n.Op == token.NOT)
		case *ast.Ident:
			safe = safe && predeclared(n.Name)
		default:
			safe = false
		}
		return safe
	})
	return safe
}

// predeclared reports whether Go declares a name as a value or as a type without methods.
func predeclared(name string) bool {
	switch name {
	case "nil", "true", "false", "any", "bool", "byte", "rune", "string", "int", "int8", "int16", "int32", "int64",
		"uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64":
		return true
	}
	return false
}

// goFind returns the one function of the tree with that name, in the package if one is named.
func goFind(tree fs.FS, pkg, name string) (found goFunc, ok bool) {
	for _, file := range files(tree, ".go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := read(tree, file)
		if !strings.Contains(text, "func "+name+"(") && !strings.Contains(text, "func "+name+"[") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if err != nil || pkg != "" && parsed.Name.Name != pkg {
			continue
		}
		for _, d := range parsed.Decls {
			f, isFunc := d.(*ast.FuncDecl)
			if !isFunc || f.Recv != nil || f.Name.Name != name {
				continue
			}
			if ok && found.dir != path.Dir(file) {
				return goFunc{}, false // two packages have it
			}
			found, ok = goFunc{path.Dir(file), parsed.Name.Name, f}, true
		}
	}
	return found, ok
}

// results counts the values of a function without an error at the end, and reports that error.
func results(f *ast.FuncDecl) (values int, fails bool) {
	if f.Type.Results == nil {
		return 0, false
	}
	for _, field := range f.Type.Results.List {
		values += max(1, len(field.Names))
	}
	last := f.Type.Results.List[len(f.Type.Results.List)-1]
	if id, ok := last.Type.(*ast.Ident); ok && id.Name == "error" && values > 1 {
		return values - 1, true
	}
	return values, false
}

// goModule returns the import path of a directory, or "" if no go.mod stands above it.
func goModule(tree fs.FS, dir string) string {
	for at, below := dir, ""; ; at = path.Dir(at) {
		if m := modulePath.FindStringSubmatch(read(tree, path.Join(at, "go.mod"))); m != nil {
			return path.Join(m[1], below)
		}
		if at == "." {
			return ""
		}
		below = path.Join(path.Base(at), below)
	}
}
