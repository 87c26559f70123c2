package testrun

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// cmakeBuild is where a project of CMake is built, below its root.
const cmakeBuild = ".signalbox-build"

// testsWithCMake matches a CMakeLists.txt whose project has tests.
var testsWithCMake = lazyregexp.New(`(?mi)^\s*(?:enable_testing\s*\(|include\s*\(\s*CTest\s*\))`)

// cmake detects a project of CMake that has tests. Each tree builds its own.
func cmake(tree fs.FS, _ string) (Plan, bool, error) {
	return Plan{
		Tool: "cmake", Runner: "ctest", Source: "CMakeLists.txt",
		Argv: []string{"sh", "-c", "cmake -S . -B " + cmakeBuild + " && cmake --build " + cmakeBuild +
			" && ctest --test-dir " + cmakeBuild + " --output-on-failure"},
	}, testsWithCMake.MatchString(text(tree, "CMakeLists.txt")), nil
}

func onlyCTest(p Plan, names []string) (Plan, bool) {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	p.Argv[len(p.Argv)-1] += " -R " + shellQuote("^("+strings.Join(quoted, "|")+")$")
	return p, true
}

var (
	ctestLine  = lazyregexp.New(`(?m)^ *\d+/\d+ Test +#\d+: (\S.*?) \.+ *(\S.*?)? +[\d.]+ sec *$`)
	ctestEnd   = lazyregexp.New(`(?m)^(?: +Start +\d+: .*|\d+% tests passed, \d+ tests failed out of \d+)$`)
	ctestTotal = lazyregexp.New(`(?m)^\d+% tests passed, \d+ tests failed out of \d+$`)
)

// ctest parses the output of CMake's runner of tests, which names each test. The output of a
// failing test stands behind its line.
func ctest(text string) report {
	r := report{counted: ctestTotal.MatchString(text)}
	if !r.counted {
		return r
	}
	lines := ctestLine.FindAllStringSubmatchIndex(text, -1)
	for i, at := range lines {
		name, result := text[at[2]:at[3]], ""
		if at[4] >= 0 {
			result = text[at[4]:at[5]]
		}
		switch result = strings.Trim(result, "*"); {
		case result == "Passed":
			r.passed++
			r.pass(name)
		case slices.Contains([]string{"Skipped", "Not Run (Disabled)"}, result):
			r.skipped++
			r.skip(name)
		default:
			said := text[at[1]:]
			if i+1 < len(lines) {
				said = text[at[1]:lines[i+1][0]]
			}
			if end := ctestEnd.FindStringIndex(said); end != nil {
				said = said[:end[0]]
			}
			f := failure{name: name, output: strings.TrimSpace(said)}
			if result != "Failed" { // how it ended
				f.output = strings.TrimSpace(result + "\n" + f.output)
			}
			if result == "Not Run" { // its program was not built
				f.cause = verdict.Compile
			}
			r.failures = append(r.failures, f)
		}
	}
	return r
}
