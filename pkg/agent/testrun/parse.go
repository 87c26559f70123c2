package testrun

import (
	"regexp"
	"strconv"
	"strings"
)

// parse reads the output of a test run. A command may run several tools, so
// every format reads what is its own; each is anchored so that it leaves the
// others' lines alone. ended says that the command came to its own good end.
func parse(events *goEvents, out string, ended bool) report {
	r := events.report(ended)
	out = withoutEvents(out)
	for _, format := range []func(string) report{
		goText, pytest, unittest, cargoText, tap, nodeSpec, jest, vitest, mocha,
	} {
		r = r.add(format(out))
	}
	return r
}

// sections cuts the text at the lines that head matches: the head's first
// group is the name, what follows up to the next head, or a line that end
// matches, is the output.
func sections(text string, head, end *regexp.Regexp) (found []failure) {
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

// sum adds up the first group of all matches and says whether there are any.
func sum(text string, re *regexp.Regexp) (n int, found bool) {
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		k, _ := strconv.Atoi(m[1]) // digits, or nothing: 0
		n += k
		found = true
	}
	return n, found
}
