package rules

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// file is what a patch does to one file.
type file struct {
	name    string
	added   []string // lines
	removed int
	binary  bool
}

func (f file) size() int { return len(f.added) + f.removed }

var testNames = lazyregexp.New(`(^|/)(tests?|spec|__tests__|testdata)/|_test\.\w+$|(^|/)test_[^/]+$|[._](test|spec)\.\w+$`)

func (f file) isTest() bool { return testNames.MatchString(f.name) }

// patch reads a unified diff made with --no-prefix.
func patch(diff string) (files []file) {
	inHunk := false
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "diff --git ") {
			files, inHunk = append(files, file{}), false
			continue
		}
		if len(files) == 0 {
			continue
		}
		f := &files[len(files)-1]
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && strings.HasPrefix(line, "+"):
			f.added = append(f.added, line[1:])
		case inHunk && strings.HasPrefix(line, "-"):
			f.removed++
		case inHunk:
		case strings.HasPrefix(line, "+++ ") && line != "+++ /dev/null", strings.HasPrefix(line, "--- ") && line != "--- /dev/null":
			f.name = strings.Trim(strings.TrimRight(line[4:], "\t"), `"`)
		case strings.HasPrefix(line, "rename to "), strings.HasPrefix(line, "Binary files "):
			if name, ok := strings.CutPrefix(line, "rename to "); ok {
				f.name = name
			} else {
				f.binary = true
				f.name = strings.TrimSuffix(line[strings.LastIndex(line, " and ")+5:], " differ")
			}
		}
	}
	return files
}
