package testrun

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Bounds of a selection. Beyond them all tests are run: a command line has a limit.
const (
	maxSelected      = 500
	maxSelectedBytes = 64 << 10
)

// numbered matches the number that tells tests of one name apart.
var numbered = lazyregexp.New(` #\d+$`)

// Only returns the plan that runs just the tests of these names, as a verdict.Run has them.
// It may run a few more that share a part of their names. It is false if the tool cannot
// select tests, or a name is not of a test that it can select.
func (p Plan) Only(names []string) (Plan, bool) {
	if len(p.Parts) > 0 {
		return p.onlyParts(names)
	}
	total := 0
	names = slices.Clone(names)
	for i, name := range names {
		total += len(name)
		names[i] = numbered.ReplaceAllString(name, "")
	}
	slices.Sort(names)
	names = slices.Compact(names)
	selects := map[string]func(Plan, []string) (Plan, bool){
		"go": onlyGo, "pytest": onlyPytest, "unittest": onlyUnittest, "cargo": onlyCargo,
		"jest": onlyJS, "vitest": onlyJS, "mocha": onlyJS, "node": onlyNode, "maven": onlyMaven, "ctest": onlyCTest, "prove": onlyProve,
	}[p.Runner]
	if selects == nil || len(names) == 0 || len(names) > maxSelected || total > maxSelectedBytes {
		return Plan{}, false
	}
	p.Argv, p.Env = slices.Clone(p.Argv), slices.Clone(p.Env)
	return selects(p, names)
}

// goName matches the name of a Go test: the package, then the test and its subtests.
var goName = lazyregexp.New(`^(.+?)\.((?:Test|Example|Fuzz|Benchmark)[\p{L}\p{N}_]*(?:/.*)?)$`)

func onlyGo(p Plan, names []string) (Plan, bool) {
	packages, tops := map[string]bool{}, map[string]bool{}
	depth := -1 // of the subtests that all names have
	var tests [][]string
	for _, name := range names {
		if pkg, built := strings.CutSuffix(name, " (build failed)"); built {
			packages[pkg] = true // it builds or not, whichever of its tests run
			continue
		}
		m := goName.FindStringSubmatch(name)
		if m == nil {
			return Plan{}, false
		}
		parts := strings.Split(m[2], "/")
		packages[m[1]], tops[parts[0]] = true, true
		tests = append(tests, parts)
		if depth < 0 || len(parts) < depth {
			depth = len(parts)
		}
	}
	pattern := "."
	for level := range max(depth, 0) {
		if level == 0 {
			pattern = ""
		} else {
			pattern += "/"
		}
		alternatives := map[string]bool{}
		for _, parts := range tests {
			alternatives[regexp.QuoteMeta(parts[level])] = true
		}
		pattern += "^(" + strings.Join(slices.Sorted(maps.Keys(alternatives)), "|") + ")$"
	}
	if len(tests) < len(names) { // a package that does not build has no test to name
		pattern = "."
	}
	// -count: another run is wanted, not the result of the one before.
	p.Argv = append([]string{"go", "test", "-json", "-count=1", "-run", pattern}, slices.Sorted(maps.Keys(packages))...)
	return p, true
}

func onlyPytest(p Plan, names []string) (Plan, bool) {
	p.Argv = append(p.Argv, names...)
	return p, true
}

func onlyUnittest(p Plan, names []string) (Plan, bool) {
	for _, name := range names {
		name, _, _ = strings.Cut(name, " ") // without the subtest
		if strings.HasPrefix(name, "unittest.loader._FailedTest.") {
			return Plan{}, false
		}
		p.Argv = append(p.Argv, "-k", name)
	}
	return p, true
}

func onlyCargo(p Plan, names []string) (Plan, bool) {
	p.Argv = append(p.Argv, "--", "--exact")
	for _, name := range names {
		if strings.HasSuffix(name, " (build failed)") {
			return Plan{}, false
		}
		target, test, ok := strings.Cut(name, " ")
		if target == "doc" {
			_, test, ok = strings.Cut(test, " ")
		}
		if !ok {
			test = name
		}
		p.Argv = append(p.Argv, test)
	}
	return p, true
}

// jsFile matches the file before the name of a test.
var jsFile = lazyregexp.New(`^(?:\|[^|]+\| )?(\S+\.[cm]?[jt]sx?)(?: [>›] | \(suite failed|$| \[)`)

func onlyJS(p Plan, names []string) (Plan, bool) {
	files, titles, whole := map[string]bool{}, map[string]bool{}, false
	for _, name := range names {
		m := jsFile.FindStringSubmatchIndex(name)
		if m != nil {
			files[name[m[2]:m[3]]] = true
		} else if p.Runner != "mocha" {
			return Plan{}, false
		}
		separator := map[string]string{"jest": " › ", "vitest": " > ", "mocha": " > "}[p.Runner]
		title := name
		if m != nil {
			_, after, ok := strings.Cut(name[m[2]:], separator)
			if whole = whole || !ok; !ok { // the file did not load
				continue
			}
			title = after
		}
		titles[regexp.QuoteMeta(strings.ReplaceAll(title, separator, " "))] = true
	}
	args := slices.Sorted(maps.Keys(files))
	if !whole && len(titles) > 0 {
		option := "-t"
		if p.Runner == "mocha" {
			option = "-g"
		}
		args = append(args, option, "^("+strings.Join(slices.Sorted(maps.Keys(titles)), "|")+")$")
	}
	return p.with(args...), true
}

// onlyNode runs the script of package.json itself, as node takes its options before the
// files that the script names.
func onlyNode(p Plan, names []string) (Plan, bool) {
	patterns := map[string]bool{}
	for _, name := range names {
		if jsFile.MatchString(name) {
			return Plan{}, false // a file that did not load
		}
		for _, part := range strings.Split(name, " > ") { // a test runs only if the ones around it do
			patterns["^"+regexp.QuoteMeta(part)+"$"] = true
		}
	}
	options := "--test"
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		options += " --test-name-pattern=" + shellQuote(pattern)
	}
	at := strings.LastIndex(p.script, "--test")
	for at >= 0 && at+6 < len(p.script) && p.script[at+6] != ' ' {
		at = strings.LastIndex(p.script[:at], "--test")
	}
	if at < 0 {
		return Plan{}, false
	}
	script := p.script[:at] + options + p.script[at+len("--test"):]
	p.Tool, p.Argv = "configured", []string{"sh", "-c", `PATH="$PWD/node_modules/.bin:$PATH"; ` + script}
	return p, true
}

// shellQuote returns a word as the shell takes it whole.
func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func onlyMaven(p Plan, names []string) (Plan, bool) {
	methods := map[string][]string{}
	for _, name := range names {
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			return Plan{}, false
		}
		method, _, _ := strings.Cut(name[i+1:], "(")
		method, _, _ = strings.Cut(method, "[")
		methods[name[:i]] = append(methods[name[:i]], method)
	}
	var tests []string
	for _, class := range slices.Sorted(maps.Keys(methods)) {
		tests = append(tests, class+"#"+strings.Join(slices.Compact(methods[class]), "+"))
	}
	p.Argv = append(p.Argv, "-Dtest="+strings.Join(tests, ","), "-Dsurefire.failIfNoSpecifiedTests=false")
	return p, true
}
