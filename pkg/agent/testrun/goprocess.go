package testrun

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// Calls that end a process. atLoad are calls that have an effect on the tests of a package if it
// makes them when it is loaded; leaving are those that end the process as if all were well
// wherever they stand. The names are of packages, not of files' own names for them.
var (
	leaving = map[string]bool{
		"os.Exit": true, "os.FindProcess": true, "syscall.Exit": true, "syscall.Exec": true, "syscall.Kill": true, "syscall.Syscall": true,
		"syscall.Syscall6": true, "syscall.RawSyscall": true, "syscall.RawSyscall6": true, "unix.Exit": true, "unix.Exec": true,
		"unix.Kill": true, "unix.Syscall": true, "unix.RawSyscall": true,
	}
	atLoad = map[string]bool{
		"log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true, "runtime.Goexit": true, "testing.Testing": true, "os.Args": true,
	}
)

// goEndings counts what ends the process in functions named init, in package variables and in
// the functions of the file that those name. In a package that is not a program, it counts
// what ends the process as if all were well in each function: another file may call it.
func goEndings(content []byte) (n int) {
	file, err := parser.ParseFile(token.NewFileSet(), "", content, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return 0
	}
	g := goFile{packages: map[string]string{}, functions: map[string][]*ast.FuncDecl{}, reached: map[*ast.FuncDecl]bool{}}
	n = g.read(file)
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				n += g.reach(d)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				n += g.count(d, true)
			}
		}
	}
	if file.Name.Name == "main" {
		return n
	}
	for _, all := range g.functions {
		for _, d := range all {
			if !g.reached[d] {
				n += g.count(d, false)
			}
		}
	}
	return n
}

// goFile is a file of Go.
type goFile struct {
	packages  map[string]string // by the file's name for each; "." has the last one that is imported without a name
	functions map[string][]*ast.FuncDecl
	reached   map[*ast.FuncDecl]bool // when the package is loaded
}

// read reads the declarations. It counts the comments that take a function of another package.
func (g goFile) read(file *ast.File) (linked int) {
	for _, i := range file.Imports {
		of, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(of)
		if i.Name != nil {
			name = i.Name.Name
		}
		g.packages[name] = path.Base(of)
	}
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok {
			g.functions[d.Name.Name] = append(g.functions[d.Name.Name], d)
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname ") {
				linked++
			}
		}
	}
	return linked
}

// reach counts in a function that runs when the package is loaded, once.
func (g goFile) reach(d *ast.FuncDecl) int {
	if g.reached[d] {
		return 0
	}
	g.reached[d] = true
	return g.count(d, true)
}

// count counts below a node. loaded means that it runs when the package is loaded.
func (g goFile) count(node ast.Node, loaded bool) (n int) {
	ast.Inspect(node, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.CallExpr:
			if g.fails(x) {
				return false
			}
		case *ast.SelectorExpr:
			if of, ok := x.X.(*ast.Ident); ok {
				if name := g.packages[of.Name] + "." + x.Sel.Name; leaving[name] || loaded && atLoad[name] {
					n++
				}
			}
		case *ast.Ident:
			if name := g.packages["."] + "." + x.Name; leaving[name] || loaded && atLoad[name] {
				n++
			}
			if loaded {
				for _, d := range g.functions[x.Name] {
					n += g.reach(d)
				}
			}
		}
		return true
	})
	return n
}

// fails reports whether a call ends the process with a literal code that is not 0: its tests
// fail then.
func (g goFile) fails(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 || sel.Sel.Name != "Exit" {
		return false
	}
	code, ok := call.Args[0].(*ast.BasicLit)
	return ok && code.Kind == token.INT && strings.Trim(code.Value, "0_xXbBoO") != ""
}
