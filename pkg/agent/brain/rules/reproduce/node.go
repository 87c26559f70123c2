package reproduce

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// nodeTest writes a test for node:test, jest, vitest or mocha, as package.json has it.
func nodeTest(tree fs.FS, r Report, p pair) (Test, bool) {
	var pkg struct {
		Type    string            `json:"type"`
		Scripts map[string]string `json:"scripts"`
	}
	name, args := split(p.call)
	if json.Unmarshal([]byte(read(tree, "package.json")), &pkg) != nil || strings.Contains(name, "::") || strings.Contains(args, "=") || !literals(args) {
		return Test{}, false
	}
	function := name[strings.LastIndexByte(name, '.')+1:]
	sources := files(tree, ".js", ".mjs", ".cjs")
	source, ok := nodeModule(tree, sources, function)
	if !ok {
		return Test{}, false
	}
	dir := commonest(sources, func(file string) bool { return nodeTestFile.MatchString(file) })
	ending := ".test.js"
	for _, file := range sources {
		if m := nodeTestFile.FindStringSubmatch(file); m != nil && m[1] == ".spec" {
			ending = ".spec.js"
		}
	}
	from := relative(dir, source)
	esm := pkg.Type == "module" && !strings.HasSuffix(source, ".cjs") || strings.HasSuffix(source, ".mjs")
	if esm && pkg.Type != "module" {
		ending = strings.TrimSuffix(ending, ".js") + ".mjs"
	}
	t := Test{Name: strings.Join(words(r.Title), " "), Path: free(tree, dir, "reported_"+snake(r), ending)}
	if t.Name == "" {
		t.Name = fmt.Sprintf("issue %d", r.Number)
	}
	script := pkg.Scripts["test"]
	var head []string
	load := func(what, from string) string {
		if esm {
			return fmt.Sprintf("import %s from %s;", what, quoteJS(from))
		}
		return fmt.Sprintf("const %s = require(%s);", what, quoteJS(from))
	}
	head = append(head, load("assert", "node:assert"))
	switch {
	case strings.Contains(script, "vitest"):
		head = append(head, `import { test } from "vitest";`)
	case strings.Contains(script, "jest"):
	case strings.Contains(script, "mocha"):
		head = append(head, "const test = it;")
	case strings.Contains(script, "node ") && strings.Contains(script, "--test"):
		head = append(head, load("test", "node:test"))
	default:
		return Test{}, false
	}
	if esm {
		head = append(head, fmt.Sprintf("import * as subject from %s;", quoteJS(from)))
	} else {
		head = append(head, load("subject", from))
	}
	t.Content = fmt.Sprintf(`%s

// The report names this call and its right result.
test(%s, () => {
  const call = typeof subject === "function" ? subject : subject.%s;
  const got = call(%s);
  const want = %s;
  assert.ok(String(got) === want || JSON.stringify(got) === want, %s + " is " + JSON.stringify(got) + ", want " + want);
});
`, strings.Join(head, "\n"), quoteJS(t.Name), function, args, quoteJS(unquoted(p.want)), quoteJS(p.call))
	return t, true
}

var nodeTestFile = lazyregexp.New(`(?:^|/)(?:[^/]+(\.test|\.spec|_test)\.[cm]?js|tests?/[^/]+\.[cm]?js|__tests__/[^/]+\.[cm]?js)$`)

// nodeModule returns the one file that exports the function.
func nodeModule(tree fs.FS, sources []string, function string) (source string, ok bool) {
	exports := lazyregexp.New(`(?m)\bexports\.` + function + `\s*=|\bmodule\.exports\s*=\s*(?:function\s+)?` + function + `\b|\bmodule\.exports\s*=\s*\{[^}]*\b` + function + `\b|^export\s+(?:async\s+)?(?:function|const|let)\s+` + function + `\b|^export\s*\{[^}]*\b` + function + `\b`)
	for _, file := range sources {
		if nodeTestFile.MatchString(file) || !exports.MatchString(read(tree, file)) {
			continue
		}
		if ok {
			return "", false
		}
		source, ok = file, true
	}
	return source, ok
}

// relative returns the path of a file as a module in dir imports it.
func relative(dir, file string) string {
	up := ""
	for ; dir != "." && !strings.HasPrefix(file, dir+"/"); dir = path.Dir(dir) {
		up += "../"
	}
	if dir != "." {
		file = strings.TrimPrefix(file, dir+"/")
	}
	if up == "" {
		up = "./"
	}
	return up + file
}

// quoteJS returns a string literal of JavaScript, which JSON's are.
func quoteJS(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return strconv.QuoteToASCII(s)
	}
	return string(b)
}
