package reproduce

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// pythonTest writes a test for unittest, which pytest runs as well.
func pythonTest(tree fs.FS, r Report, p pair) (Test, bool) {
	name, args := split(p.call)
	if !literals(args) || strings.Contains(name, "::") {
		return Test{}, false
	}
	at := strings.LastIndexByte(name, '.')
	qualifier, function := "", name
	if at >= 0 {
		qualifier, function = name[:at], name[at+1:]
	}
	sources := files(tree, ".py")
	module, ok := pythonModule(tree, sources, qualifier, function)
	if !ok {
		return Test{}, false
	}
	t := Test{Name: "test_" + snake(r)}
	t.Path = free(tree, pythonTests(sources), "test_reported_"+snake(r), ".py")
	want := strconv.QuoteToASCII(unquoted(p.want))
	t.Content = fmt.Sprintf(`import unittest

from %s import %s


class Reported(unittest.TestCase):
    def %s(self):
        """The report names this call and its right result."""
        got = %s(%s)
        if %s not in (str(got), repr(got)):
            self.fail("%%s is %%r, want %%s" %% (%s, got, %s))
`, module, function, t.Name, function, args, want, strconv.QuoteToASCII(p.call), want)
	return t, true
}

// pythonModule returns the one module that defines, or exports, the function. qualifier is
// what the report has before the function's name: a module or its last part.
func pythonModule(tree fs.FS, sources []string, qualifier, function string) (module string, ok bool) {
	defines := lazyregexp.New(`(?m)^(?:async )?def ` + function + `\(|^` + function + `\s*=|^from \S+ import .*\b` + function + `\b`)
	var found []string
	for _, file := range sources {
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(file, "src/"), "lib/"), ".py"), "/__init__")
		name = strings.ReplaceAll(name, "/", ".")
		if strings.HasPrefix(path.Base(file), "test_") || name == "setup" || !pythonName.MatchString(name) {
			continue
		}
		if (qualifier == "" || name == qualifier || strings.HasSuffix(name, "."+qualifier)) && defines.MatchString(read(tree, file)) {
			found = append(found, name)
		}
	}
	// A package that exports what one of its modules defines comes first.
	slices.SortStableFunc(found, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
	if len(found) == 0 || len(found) > 1 && !strings.HasPrefix(found[1], found[0]+".") {
		return "", false
	}
	return found[0], true
}

var pythonName = lazyregexp.New(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$`)

// pythonTests returns the directory with most of the tests, the root if there are none.
func pythonTests(sources []string) string {
	return commonest(sources, func(file string) bool {
		base := path.Base(file)
		return strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py")
	})
}

// commonest returns the directory with most of the files that match, the first of those
// with as many, or the root.
func commonest(all []string, matches func(string) bool) string {
	count, best := map[string]int{}, "."
	for _, file := range all {
		if matches(file) {
			dir := path.Dir(file)
			if count[dir]++; count[dir] > count[best] || best == "." && count["."] == 0 {
				best = dir
			}
		}
	}
	return best
}
