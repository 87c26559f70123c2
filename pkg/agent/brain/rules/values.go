package rules

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

var (
	wantedLine = lazyregexp.New(`(?im)^\W*(?:expected|want(?:ed)?|should be|expected (?:result|output|behaviou?r))\W*:\W*(.+)$`)
	wrongLine  = lazyregexp.New(`(?im)^\W*(?:actual|got|instead|actual (?:result|output|behaviou?r)|what happens)\W*:\W*(.+)$`)
)

// Values returns the value that a report expects and the one that it complains about, as
// its lines "Expected: …" and "Actual: …" have them. Both are empty if one is.
func Values(issue instance.Issue) (wanted, wrong string) {
	value := func(line *lazyregexp.Regexp) string {
		m := line.FindStringSubmatch(issue.Body)
		if m == nil {
			return ""
		}
		return strings.Trim(strings.TrimSpace(m[1]), "`\"'.“”*")
	}
	wanted, wrong = value(wantedLine), value(wrongLine)
	if wanted == "" || wrong == "" || wanted == wrong {
		return "", ""
	}
	return wanted, wrong
}
