package testrun

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Signature identifies a failure. It is equal if the same tests fail in the same way,
// on any machine and at any time. It differs if another test or another assertion
// fails, or if the values differ. It is empty for evidence that is OK.
//
// It leaves out timings, times of day, addresses, process and goroutine ids, free
// ports, temporary directories and the order of lines. It also leaves out line
// numbers outside test files, which any edit moves. Inside a test file the line
// number identifies the assertion.
func Signature(ev instance.Evidence) string {
	if ev.OK {
		return ""
	}
	h := sha256.New()
	for _, name := range slices.Sorted(slices.Values(ev.Failed)) {
		fmt.Fprintf(h, "%s\n", name)
	}
	var kept []string
	for line := range strings.Lines(ev.Output) {
		if line = steady(line); line != "" {
			kept = append(kept, line)
		}
	}
	slices.Sort(kept)
	for _, line := range slices.Compact(kept) {
		fmt.Fprintf(h, "\n%s", line)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}

// unsteady has the replacements in a line, in order.
var unsteady = []struct {
	what *lazyregexp.Regexp
	by   string
}{
	{lazyregexp.New(`^goroutine \d+ .*$`), ""},
	{lazyregexp.New(`^… \d+ lines left out$`), ""},
	{lazyregexp.New(`^\s*(Ran \d+ tests? in|Time:|Duration|Start at|duration_ms|Finished .* in) .*$`), ""},
	// A stamp that begins a line of a log, and a clock anywhere: three decimals and more.
	{lazyregexp.New(`^(\S*(?:time|ts)["=:]+ ?"?)?(\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?`), "${1}TIME"},
	{lazyregexp.New(`\b(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d\.\d{3,}(Z| ?[+-]\d\d:?\d\d)?( m=[+-][\d.]+)?`), "TIME"},
	{lazyregexp.New(`\b(\d+[hm])*\d+\.\d{3,}(ns|µs|us|ms|s)\b`), "TIME"},
	// Timings at the end of a line: (0.01s), (5 ms), in 0.10s
	{lazyregexp.New(`\s*\((\d+\.\d\ds|\d+ m?s)\)$`), ""},
	{lazyregexp.New(`\bin \d+\.\d\d+s( =+)?$`), ""},
	// The arguments of a stack frame, its offset, and addresses anywhere.
	{lazyregexp.New(`^([\w./*()\-\[\]]+)\((0x|\{|\.\.\.|_).*\)$`), "$1"},
	{lazyregexp.New(` \+0x[0-9a-f]+$`), ""},
	{lazyregexp.New(`\b0x[0-9a-fA-F]{9,}\b`), "ADDR"},
	{lazyregexp.New(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "UUID"},
	{lazyregexp.New(`(?i)\b(pid|process|goroutine|thread)([ =:#]+)\d+\b`), "$1$2N"},
	{lazyregexp.New(`^(thread '.*') \(\d+\)`), "$1"},
	{lazyregexp.New(`(127\.0\.0\.1|0\.0\.0\.0|localhost|\[::1?\]):\d{4,5}\b`), "$1:PORT"},
	// Of a temporary path only the last element is kept.
	{lazyregexp.New(`(/private)?(/tmp|/var/tmp|/var/folders/\w+/\w+/T|/dev/shm)(/[^\s:'"<>()\[\],;]*)?/([^\s/:'"<>()\[\],;]*)`), "TMP/$4"},
	{lazyregexp.New(`TMP/(.*?)\d{5,}`), "TMP/$1N"},
	// Directories of other absolute paths depend on the machine.
	{lazyregexp.New(`(^|[\s'"(])/[^\s:'"()]*/([^\s/:'"()]+\.\w{1,5}:\d+)`), "$1$2"},
}

var (
	place    = lazyregexp.New(`([\w./@-]+\.(?:go|py|rs|[cm]?[jt]sx?|java|kt|scala|rb|c|cc|cpp|h|hpp|cs|fs|php|swift|exs?|sh))(:\d+(?::\d+)?|", line \d+)`)
	testFile = lazyregexp.New(`(_test\.go|(^|/)test_[^/]*\.py|_test\.py|[._](test|spec)\.[cm]?[jt]sx?|(^|/)(tests?|spec|__tests__)/.*)$`)
)

// Steady returns output without the parts that differ between runs, such as times and
// addresses. Equal results are the same output.
func Steady(output string) string {
	var kept []string
	for line := range strings.Lines(output) {
		if line = steady(line); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// steady returns the line without the parts that differ between runs.
func steady(line string) string {
	line = strings.TrimSpace(line)
	for _, u := range unsteady {
		line = u.what.ReplaceAllString(line, u.by)
	}
	return strings.TrimSpace(place.ReplaceAllStringFunc(line, func(s string) string {
		m := place.FindStringSubmatch(s)
		if testFile.MatchString(m[1]) {
			return s
		}
		return m[1]
	}))
}
