package testrun

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// parse parses the output of a test run. A command may run several tools, so every
// parser gets all of it, and matches only lines of its own format. ended means that
// the command ended by itself.
func parse(events *goEvents, out string, ended bool) report {
	r := events.report(ended).sealed()
	out = withoutEvents(out)
	for _, format := range []func(string) report{
		goText, pytest, unittest, cargoText, prove, tap, nodeSpec, jest, vitest, mocha, ctest, testUnit, minitest,
	} {
		r = r.add(format(out).sealed())
	}
	return r
}

// sections cuts the text at the lines that head matches. The first group of head is
// the name. The output goes on to the next head or to a line that end matches.
func sections(text string, head, end *lazyregexp.Regexp) (found []failure) {
	open := false
	var body []string
	shut := func() {
		if open {
			found[len(found)-1].output = strings.Trim(strings.Join(body, "\n"), "\n")
		}
		open, body = false, nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := head.FindStringSubmatch(line); m != nil {
			shut()
			open, found = true, append(found, failure{name: m[1]})
		} else if end.MatchString(line) {
			shut()
		} else {
			body = append(body, line)
		}
	}
	shut()
	return found
}

// sum adds up the first group of all matches, and reports whether there is one.
func sum(text string, re *lazyregexp.Regexp) (n int, found bool) {
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		if k, err := strconv.ParseInt(m[1], 10, 32); err == nil { // else no number, or none of tests
			n += int(k)
		}
		found = true
	}
	return n, found
}

// numbers reads numbers; what is none counts 0.
func numbers(words []string) []int {
	all := make([]int, len(words))
	for i, word := range words {
		if k, err := strconv.ParseInt(word, 10, 32); err == nil {
			all[i] = int(k)
		}
	}
	return all
}
