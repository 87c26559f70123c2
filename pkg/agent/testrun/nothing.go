package testrun

import (
	"fmt"
	"go/build/constraint"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// nothingTested is the key in the data of evidence whose run tested nothing. Its value is
// the sentence that says why, as far as the tree shows it.
const nothingTested = "nothing_tested"

// nothing begins the output of a run that tested nothing.
const nothing = "nothing was tested: "

// explainNothing adds to evidence of a run without a test why none ran.
func explainNothing(ev *instance.Evidence, plan Plan, dir string) {
	rest, empty := strings.CutPrefix(ev.Output, nothing)
	if !empty {
		return
	}
	why := "no test ran"
	if root, err := os.OpenRoot(dir); err == nil {
		if found := whyNothing(root.FS(), plan); found != "" {
			why = found
		}
		_ = root.Close()
	}
	if ev.Data == nil {
		ev.Data = map[string]string{}
	}
	ev.Data[nothingTested] = fmt.Sprintf("%s ran no tests", plan.program())
	if why != "no test ran" {
		ev.Data[nothingTested] += ": " + why
	}
	ev.Output = nothing + why + "\n" + strings.TrimPrefix(rest, "no test ran\n")
}

// NothingTested reports whether evidence is of a run without a test.
func NothingTested(ev instance.Evidence) bool { return ev.Data[nothingTested] != "" }

// program names the plan's test program for people.
func (p Plan) program() string {
	switch p.Runner {
	case "go":
		return "go test"
	case "cargo":
		return "cargo test"
	case "":
		return p.Command()
	}
	return p.Runner
}

// whyNothing returns why no test of the tree ran, or "".
func whyNothing(tree fs.FS, plan Plan) string {
	switch plan.Runner {
	case "go":
		return whyNoGoTest(tree)
	case "pytest":
		if files := pythonTests(tree); len(files) == 0 {
			return "no file is named test_*.py or *_test.py"
		} else if !slices.ContainsFunc(files, func(name string) bool { return pythonTest.MatchString(text(tree, name)) }) {
			return files[0] + " has no function or class whose name begins with test"
		}
	}
	return ""
}

var (
	pythonTest = lazyregexp.New(`(?m)^\s*(?:async )?(?:def test|class Test|class \w+\(.*TestCase)`)
	goTestFunc = lazyregexp.New(`(?m)^func (?:Test|Example|Fuzz)`)
)

// maxVisited limits the files of a tree that are looked at.
const maxVisited = 100_000

// whyNoGoTest looks for files of tests that the go command leaves out.
func whyNoGoTest(tree fs.FS) string {
	first, why, visited := "", "", 0
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if visited++; err != nil || visited > maxVisited || why != "" {
			return fs.SkipAll
		}
		base := path.Base(name)
		if d.IsDir() && name != "." && (base == "vendor" || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(base, "_test.go") {
			return nil
		}
		content := text(tree, name)
		if first == "" {
			first = name
		}
		if tags := buildTags(content); tags != "" {
			why = fmt.Sprintf("%s needs %s", name, tags)
		} else if goTestFunc.MatchString(content) && name != base && exists(tree, path.Join(path.Dir(name), "go.mod")) {
			why = name + " is in a module of its own"
		}
		return nil
	})
	switch {
	case why != "":
		return why
	case first == "":
		return "no file is named *_test.go"
	}
	return first + " has no function whose name begins with Test"
}

// buildTags describes the build constraint of a Go file; empty if it has none.
func buildTags(content string) string {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") {
			return ""
		}
		if !constraint.IsGoBuild(line) {
			continue
		}
		expr, err := constraint.Parse(line)
		if err != nil {
			return ""
		}
		if tag, ok := expr.(*constraint.TagExpr); ok {
			return "the build tag " + tag.Tag
		}
		return "the build constraint " + expr.String()
	}
	return ""
}
