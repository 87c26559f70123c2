// Package reproduce turns a report that names a call and its right result into a
// test. It writes a test only if the call is one of the repository's own functions
// with literal arguments. The words of a report therefore never run as code.
package reproduce

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Report is the part of an issue that a test can be made of.
type Report struct {
	Number   int    // of the issue; 0: it has none
	Title    string // of the issue
	Steps    string // Markdown
	Expected string // Markdown
	Actual   string // Markdown; may be empty
	Body     string // Markdown: the whole report, for sentences such as "`f(1)` is 2, want 3"
}

// Test is a test file that a report asks for.
type Test struct {
	Path    string // of the file, with slashes; it is there if the tree has this very test
	Content string
	Name    string // of the test
	Call    string // as the report has it
	Want    string // the expected result, as the report has it
}

// Find returns a test for the first call in the report that a language of the tree
// understands. The test compares the text of the result with the expected text.
// ok is false if the report names no call, no result, or no function of the tree.
func Find(tree fs.FS, r Report) (t Test, ok bool) {
	for _, p := range pairs(r) {
		for _, language := range []func(fs.FS, Report, pair) (Test, bool){goTest, pythonTest, nodeTest, rustTest} {
			if t, ok := language(tree, r, p); ok {
				t.Call, t.Want, t.Path = p.call, p.want, written(tree, t)
				return t, true
			}
		}
	}
	return Test{}, false
}

// pair is a call and the text of its right result.
type pair struct{ call, want string }

const (
	maxCall  = 400  // bytes
	maxWant  = 2000 // bytes
	maxPairs = 10
)

var (
	span    = lazyregexp.New("``([^`\n]+)``|`([^`\n]+)`")
	fence   = lazyregexp.New("(?ms)^ {0,3}```[^\n]*\n(.*?)^ {0,3}```")
	prompt  = lazyregexp.New(`^(?:>>>|>|\$|In \[\d+\]:)\s*`)
	call    = lazyregexp.New(`^[\pL_][\pL\pN_]*(?:(?:\.|::)[\pL_][\pL\pN_]*)*\(.*\)$`)
	inProse = lazyregexp.New(`[\pL_][\pL\pN_]*(?:(?:\.|::)[\pL_][\pL\pN_]*)*\((?:"[^"\n]*"|'[^'\n]*'|[^()"'\n])*\)`)
	// sentence matches "`CALL` returns `GOT`, want `WANT`" and its kin.
	sentence = lazyregexp.New("`([^`\n]+\\))`[^`\n]{0,40}`([^`\n]+)`[^`\n]{0,40}\\b(?:want(?:ed)?|expect(?:ed)?|should (?:be|return|give|print)|instead of|rather than|not)\\b[^`\n]{0,20}`([^`\n]+)`")
	// wanted matches "`CALL` should return `WANT`".
	wanted = lazyregexp.New("`([^`\n]+\\))`[^`\n]{0,20}\\b(?:should|must|is expected to)\\b[^`\n]{0,20}`([^`\n]+)`")
)

// pairs lists what the report says of calls and their results, the surest first.
func pairs(r Report) (all []pair) {
	add := func(expr, want string) {
		expr, want = strings.TrimSuffix(strings.TrimSpace(prompt.ReplaceAllString(strings.TrimSpace(expr), "")), ";"), strings.TrimSpace(want)
		if len(all) < maxPairs && call.MatchString(expr) && len(expr) <= maxCall && want != "" && len(want) <= maxWant {
			all = append(all, pair{expr, want})
		}
	}
	if want := result(r.Expected); want != "" {
		for _, expr := range codes(r.Steps) {
			add(expr, want)
		}
	}
	for _, m := range sentence.FindAllStringSubmatch(r.Body, -1) {
		if wrongFirst(m[0]) {
			add(m[1], m[3])
		} else {
			add(m[1], m[2])
		}
	}
	for _, m := range wanted.FindAllStringSubmatch(r.Body, -1) {
		add(m[1], m[2])
	}
	return all
}

var rightFirst = lazyregexp.New(`\b(?:instead of|rather than|should|must)\b`)

// wrongFirst reports whether a sentence names the wrong result before the right one. It
// does not in "`f(1)` should be `2` instead of `3`".
func wrongFirst(sentence string) bool {
	m := rightFirst.FindAllString(sentence, -1)
	return len(m) < 2
}

// codes lists the code of a text, line by line. A text without any has the call in its prose,
// if that is the only one.
func codes(text string) (lines []string) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(m[1], "\n")...)
	}
	prose := fence.ReplaceAllString(text, "")
	for _, m := range span.FindAllStringSubmatch(prose, -1) {
		lines = append(lines, m[1]+m[2])
	}
	if calls := inProse.FindAllString(prose, -1); len(lines) == 0 && len(calls) == 1 {
		return calls
	}
	return lines
}

var bare = lazyregexp.New(`^(?:-?\d[\d_]*(?:\.\d+)?|"[^"\n]*"|'[^'\n]*'|true|false|True|False|None|nil|null)$`)

// result returns the one result that a text names: its only code, or the whole text if
// that is a literal. It is empty if the text names none or several.
func result(text string) string {
	text = strings.TrimSpace(text)
	if m := fence.FindAllStringSubmatch(text, -1); len(m) == 1 && strings.TrimSpace(fence.ReplaceAllString(text, "")) == "" {
		return strings.TrimRight(m[0][1], "\n")
	}
	spans := span.FindAllStringSubmatch(text, -1)
	if len(spans) == 1 {
		return spans[0][1] + spans[0][2]
	}
	if plain := strings.TrimSuffix(text, "."); len(spans) == 0 && bare.MatchString(plain) {
		return plain
	}
	return ""
}

// words lists the words of the title, of letters and digits of ASCII, at most eight.
func words(title string) []string {
	all := strings.FieldsFunc(title, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return all[:min(len(all), 8)]
}

// camel returns the name of a test, such as HelloIsSpelledWrong.
func camel(r Report) string {
	var name strings.Builder
	for _, w := range words(r.Title) {
		name.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	if name.Len() == 0 {
		return fmt.Sprintf("Issue%d", r.Number)
	}
	return name.String()
}

// snake returns the name of a test, such as hello_is_spelled_wrong.
func snake(r Report) string {
	if name := strings.ToLower(strings.Join(words(r.Title), "_")); name != "" {
		return name
	}
	return fmt.Sprintf("issue_%d", r.Number)
}

// files lists the regular files below the tree's root whose name ends in one of the
// endings. It leaves out directories of dependencies and build results.
func files(tree fs.FS, endings ...string) (names []string) {
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // a directory that cannot be read has no function to call
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || skipped[d.Name()]):
			return fs.SkipDir
		case len(names) >= maxFiles:
			return fs.SkipAll
		case d.Type().IsRegular() && ends(name, endings):
			names = append(names, name)
		}
		return nil
	})
	return names
}

const (
	maxFiles = 20_000
	maxFile  = 1 << 20 // bytes
)

var skipped = map[string]bool{"node_modules": true, "vendor": true, "target": true, "dist": true, "build": true, "testdata": true, "__pycache__": true}

func ends(name string, endings []string) bool {
	for _, e := range endings {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}

// read returns the beginning of a file, or "" if it cannot be read.
func read(tree fs.FS, name string) string {
	f, err := tree.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return string(content)
}

// free returns a path in dir that the tree does not have, made of a stem and an ending.
func free(tree fs.FS, dir, stem, ending string) string {
	for n := 1; ; n++ {
		name := path.Join(dir, stem+ending)
		if n > 1 {
			name = path.Join(dir, fmt.Sprintf("%s_%d%s", stem, n, ending))
		}
		if _, err := fs.Stat(tree, name); err != nil {
			return name
		}
	}
}

// written returns the path of the file next to that of the test which has the same content, as after an
// earlier attempt; else the test's own.
func written(tree fs.FS, t Test) string {
	beside, err := fs.ReadDir(tree, path.Dir(t.Path))
	if err != nil {
		return t.Path
	}
	for _, entry := range beside {
		name := path.Join(path.Dir(t.Path), entry.Name())
		if entry.Type().IsRegular() && path.Ext(name) == path.Ext(t.Path) && read(tree, name) == t.Content {
			return name
		}
	}
	return t.Path
}

// open and shut are the brackets of literals.
const open, shut = "([{", ")]}"

// literal is a token of the literals that Python, JavaScript and Rust share.
var literal = lazyregexp.New(`^(?:\s+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[iuf](?:8|16|32|64|size))?|True|False|None|true|false|null|undefined|[\[\]{}(),:]|&|[A-Za-z_]\w*\s*=)`)

// literals reports whether the arguments of a call consist of literals alone.
func literals(args string) bool {
	var nesting []byte
	for args != "" {
		m := literal.FindString(args)
		if m == "" || strings.HasSuffix(m, "=") && strings.HasPrefix(args[len(m):], "=") {
			return false
		}
		if i := strings.Index(open, m); i >= 0 && len(m) == 1 {
			nesting = append(nesting, shut[i])
		} else if strings.Contains(shut, m) && len(m) == 1 {
			if len(nesting) == 0 || nesting[len(nesting)-1] != m[0] {
				return false
			}
			nesting = nesting[:len(nesting)-1]
		}
		args = args[len(m):]
	}
	return len(nesting) == 0
}

// split returns the name and the arguments of a call: a.b(1) is a.b and 1.
func split(expr string) (name, args string) {
	name, args, _ = strings.Cut(expr, "(")
	return name, strings.TrimSuffix(args, ")")
}

// unquoted returns the text that a literal of a string stands for, or the text as it is.
func unquoted(want string) string {
	if len(want) >= 2 && (want[0] == '"' || want[0] == '\'') && want[len(want)-1] == want[0] && !strings.ContainsAny(want[1:len(want)-1], "\\"+want[:1]) {
		return want[1 : len(want)-1]
	}
	return want
}
