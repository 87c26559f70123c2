package testrun

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
)

// Signature identifies a failure: equal for the same tests failing in the same
// way, on any machine and at any time; different when another test or another
// assertion fails or its values differ. It is empty for evidence that is OK.
//
// What changes by itself does not count: timings, times of day, addresses,
// process and goroutine ids, free ports, temporary directories, the order of
// lines, and line numbers outside test files, which any edit moves. Inside a
// test file the number tells which assertion failed.
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

// unsteady are the rewritings of a line, in order.
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
	// What a tool appends: (0.01s), (5 ms), in 0.10s
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
	// A temporary path is as good as its last element.
	{regexp.MustCompile(`(/private)?(/tmp|/var/tmp|/var/folders/\w+/\w+/T|/dev/shm)(/[^\s:'"<>()\[\],;]*)?/([^\s/:'"<>()\[\],;]*)`), "TMP/$4"},
	{regexp.MustCompile(`TMP/(.*?)\d{5,}`), "TMP/$1N"},
	// Other absolute paths of source files lie where this machine has them.
	{regexp.MustCompile(`(^|[\s'"(])/[^\s:'"()]*/([^\s/:'"()]+\.\w{1,5}:\d+)`), "$1$2"},
}

var (
	place    = regexp.MustCompile(`([\w./@-]+\.(?:go|py|rs|[cm]?[jt]sx?|java|kt|scala|rb|c|cc|cpp|h|hpp|cs|fs|php|swift|exs?|sh))(:\d+(?::\d+)?|", line \d+)`)
	testFile = regexp.MustCompile(`(_test\.go|(^|/)test_[^/]*\.py|_test\.py|[._](test|spec)\.[cm]?[jt]sx?|(^|/)(tests?|spec|__tests__)/.*)$`)
)

// steady is the line without what changes by itself.
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
