package testrun

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
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
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`^goroutine \d+ .*$`), ""},
	{regexp.MustCompile(`^… \d+ lines left out$`), ""},
	{regexp.MustCompile(`^\s*(Ran \d+ tests? in|Time:|Duration|Start at|duration_ms|Finished .* in) .*$`), ""},
	// A stamp that begins a line of a log, and a clock anywhere: three decimals and more.
	{regexp.MustCompile(`^(\S*(?:time|ts)["=:]+ ?"?)?(\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?`), "${1}TIME"},
	{regexp.MustCompile(`\b(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d\.\d{3,}(Z| ?[+-]\d\d:?\d\d)?( m=[+-][\d.]+)?`), "TIME"},
	{regexp.MustCompile(`\b(\d+[hm])*\d+\.\d{3,}(ns|µs|us|ms|s)\b`), "TIME"},
	// Timings at the end of a line: (0.01s), (5 ms), in 0.10s
	{regexp.MustCompile(`\s*\((\d+\.\d\ds|\d+ m?s)\)$`), ""},
	{regexp.MustCompile(`\bin \d+\.\d\d+s( =+)?$`), ""},
	// The arguments of a stack frame, its offset, and addresses anywhere.
	{regexp.MustCompile(`^([\w./*()\-\[\]]+)\((0x|\{|\.\.\.|_).*\)$`), "$1"},
	{regexp.MustCompile(` \+0x[0-9a-f]+$`), ""},
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{9,}\b`), "ADDR"},
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "UUID"},
	{regexp.MustCompile(`(?i)\b(pid|process|goroutine|thread)([ =:#]+)\d+\b`), "$1$2N"},
	{regexp.MustCompile(`^(thread '.*') \(\d+\)`), "$1"},
	{regexp.MustCompile(`(127\.0\.0\.1|0\.0\.0\.0|localhost|\[::1?\]):\d{4,5}\b`), "$1:PORT"},
	// Of a temporary path only the last element is kept.
	{regexp.MustCompile(`(/private)?(/tmp|/var/tmp|/var/folders/\w+/\w+/T|/dev/shm)(/[^\s:'"<>()\[\],;]*)?/([^\s/:'"<>()\[\],;]*)`), "TMP/$4"},
	{regexp.MustCompile(`TMP/(.*?)\d{5,}`), "TMP/$1N"},
	// Directories of other absolute paths depend on the machine.
	{regexp.MustCompile(`(^|[\s'"(])/[^\s:'"()]*/([^\s/:'"()]+\.\w{1,5}:\d+)`), "$1$2"},
}

var (
	place    = regexp.MustCompile(`([\w./@-]+\.(?:go|py|rs|[cm]?[jt]sx?|java|kt|scala|rb|c|cc|cpp|h|hpp|cs|fs|php|swift|exs?|sh))(:\d+(?::\d+)?|", line \d+)`)
	testFile = regexp.MustCompile(`(_test\.go|(^|/)test_[^/]*\.py|_test\.py|[._](test|spec)\.[cm]?[jt]sx?|(^|/)(tests?|spec|__tests__)/.*)$`)
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
