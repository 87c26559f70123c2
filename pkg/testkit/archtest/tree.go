package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// tree is the parsed Go source of a module, without generated files.
type tree struct {
	module  string
	fset    *token.FileSet
	files   []*file
	budgets []budget
	phrases []budget          // uses of phrases in comments
	pages   map[string]string // the prose of documents
	texts   []text            // what is embedded for people to read
}

type file struct {
	path  string // relative to the module's root
	dir   string // the package, relative to the module's root
	test  bool   // a test or a test library: it imports testing
	lines int
	ast   *ast.File
}

func load(fsys fs.FS, module string) (*tree, error) {
	t := &tree{module: module, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || name == "bin"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(t.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		t.files = append(t.files, &file{
			path: name, dir: path.Dir(name), ast: f,
			test:  strings.HasSuffix(name, "_test.go") || imports(f, "testing"),
			lines: t.fset.File(f.FileStart).LineCount(),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.budgets, err = readBudgets(fsys, budgetFile); err != nil {
		return nil, err
	}
	if t.phrases, err = readBudgets(fsys, phraseFile); err != nil {
		return nil, err
	}
	if t.pages, err = readPages(fsys); err != nil {
		return nil, err
	}
	t.texts, err = readTexts(fsys)
	return t, err
}

// dirs returns the directories of the packages, sorted.
func (t *tree) dirs() []string {
	var dirs []string
	for _, f := range t.files {
		dirs = append(dirs, f.dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// in returns the files of a package that are not tests.
func (t *tree) in(dir string) []*file {
	var files []*file
	for _, f := range t.files {
		if f.dir == dir && !f.test {
			files = append(files, f)
		}
	}
	return files
}

// at makes a violation at a node of f.
func (t *tree) at(f *file, node ast.Node, rule, text string) Violation {
	return Violation{File: f.path, Line: t.fset.Position(node.Pos()).Line, Rule: rule, Text: text}
}

// local returns the directory of an imported package of the module, "" for a
// package of another module.
func (t *tree) local(imported string) string {
	dir, ok := strings.CutPrefix(imported, t.module+"/")
	if !ok {
		return ""
	}
	return dir
}

// within reports whether dir is one of roots or below it.
func within(dir string, roots ...string) bool {
	for _, root := range roots {
		if dir == root || strings.HasPrefix(dir, root+"/") {
			return true
		}
	}
	return false
}

func imports(f *ast.File, name string) bool {
	for _, spec := range f.Imports {
		if importPath(spec) == name {
			return true
		}
	}
	return false
}

// importPath returns the path of an import.
func importPath(spec *ast.ImportSpec) string {
	s, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	return s
}

// each calls visit for every import of every file. It returns a violation for
// each text that is not empty.
func (t *tree) each(rule string, visit func(f *file, imported string) string) []Violation {
	var all []Violation
	for _, f := range t.files {
		for _, spec := range f.ast.Imports {
			if text := visit(f, importPath(spec)); text != "" {
				all = append(all, t.at(f, spec, rule, text))
			}
		}
	}
	return all
}

// inspect calls visit for every node of every file. It returns a violation for
// each text that is not empty.
func (t *tree) inspect(rule string, visit func(f *file, node ast.Node) string) []Violation {
	var all []Violation
	for _, f := range t.files {
		ast.Inspect(f.ast, func(node ast.Node) bool {
			if text := visit(f, node); text != "" {
				all = append(all, t.at(f, node, rule, text))
			}
			return true
		})
	}
	return all
}
