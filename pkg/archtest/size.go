package archtest

import (
	"path"
	"slices"
	"strconv"
)

// most is how many lines a file may have: one concept rarely takes more.
const most = 300

// sizes: a file is one concept.
func sizes(t *tree) []Violation {
	var all []Violation
	for _, f := range t.files {
		if f.lines > most {
			all = append(all, Violation{f.path, f.lines, "size",
				"a file has at most " + strconv.Itoa(most) + " lines: this one is several concepts"})
		}
	}
	return all
}

// vague are names that say nothing about what a package is.
var vague = []string{"util", "utils", "common", "misc", "manager", "helper", "helpers", "base", "shared", "types"}

// names: a package is named for what it is.
func names(t *tree) []Violation {
	var all []Violation
	for _, f := range t.files {
		if slices.Contains(vague, path.Base(f.dir)) {
			all = append(all, t.at(f, f.ast.Name, "names", "package "+path.Base(f.dir)+" says nothing of what it is"))
		}
	}
	return all
}
