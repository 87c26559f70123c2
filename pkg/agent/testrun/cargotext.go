package testrun

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

var (
	cargoPassed  = lazyregexp.New(`(?m)^test result: (?:ok|FAILED)\. (\d+) passed; \d+ failed;`)
	cargoIgnored = lazyregexp.New(`(?m)^test result: (?:ok|FAILED)\. \d+ passed; \d+ failed; (\d+) ignored;`)
	cargoTest    = lazyregexp.New(`(?m)^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$`)
	cargoHead    = lazyregexp.New(`^---- (.+) stdout ----$`)
	cargoEnd     = lazyregexp.New(`^(failures:|test result: .*|note: run with .RUST_BACKTRACE=1. .*)$`)
	cargoBuild   = lazyregexp.New("(?m)^error: could not compile `([^`]+)`")
	cargoTarget  = lazyregexp.New(`(?m)^ +(?:Running .*\(\S*?([\w-]+)-[0-9a-f]{16}(?:\.exe)?\)|Doc-tests (\S+))$`)
)

// cargoText parses the output of cargo test. A test is named by the target that it
// belongs to and its path, as the target of another crate may have the same path.
func cargoText(text string) report {
	var r report
	r.passed, r.counted = sum(text, cargoPassed)
	r.skipped, _ = sum(text, cargoIgnored)
	from, target := 0, ""
	for _, at := range cargoTarget.FindAllStringSubmatchIndex(text, -1) {
		r.cargoTests(target, text[from:at[0]])
		from = at[1]
		if target = "doc"; at[2] >= 0 {
			target = text[at[2]:at[3]]
		} else if at[4] >= 0 {
			target += " " + text[at[4]:at[5]]
		}
	}
	r.cargoTests(target, text[from:])
	broken := map[string]bool{} // a crate is built more than once: with and without its tests
	for _, m := range cargoBuild.FindAllStringSubmatchIndex(text, -1) {
		if r.counted = true; broken[text[m[2]:m[3]]] {
			continue
		}
		broken[text[m[2]:m[3]]] = true
		// The errors stand before the line that counts them.
		r.failures = append(r.failures, failure{
			name: text[m[2]:m[3]] + " (build failed)", output: rustErrors(text[:m[0]]), cause: verdict.Compile,
		})
	}
	return r
}

// cargoTests adds the tests of one target.
func (r *report) cargoTests(target, text string) {
	said := map[string]string{}
	for _, f := range sections(text, cargoHead, cargoEnd) {
		said[f.name] = f.output
	}
	for _, m := range cargoTest.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(target + " " + m[1])
		switch m[2] {
		case "ok":
			r.pass(name)
		case "ignored":
			r.skip(name)
		default:
			r.failures = append(r.failures, failure{name: name, output: said[m[1]]})
		}
	}
}

// rustErrors returns the text from the first error on.
func rustErrors(text string) string {
	at := rustError.FindStringIndex(text)
	if at == nil {
		return ""
	}
	return text[at[0]:]
}

var rustError = lazyregexp.New(`(?m)^error(?:\[E\d+\])?: `)
