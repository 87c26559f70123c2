package testrun

import "regexp"

var (
	cargoPassed  = regexp.MustCompile(`(?m)^test result: (?:ok|FAILED)\. (\d+) passed; \d+ failed;`)
	cargoIgnored = regexp.MustCompile(`(?m)^test result: (?:ok|FAILED)\. \d+ passed; \d+ failed; (\d+) ignored;`)
	cargoFailed  = regexp.MustCompile(`(?m)^test (.+?)(?: - should panic)? \.\.\. FAILED$`)
	cargoHead    = regexp.MustCompile(`^---- (.+) stdout ----$`)
	cargoEnd     = regexp.MustCompile(`^(failures:|test result: .*|note: run with .RUST_BACKTRACE=1. .*)$`)
	cargoBuild   = regexp.MustCompile("(?m)^error: could not compile `([^`]+)`")
)

// cargoText parses the output of cargo test.
func cargoText(text string) report {
	var r report
	r.passed, r.counted = sum(text, cargoPassed)
	r.skipped, _ = sum(text, cargoIgnored)
	said := map[string]string{}
	for _, f := range sections(text, cargoHead, cargoEnd) {
		said[f.name] = f.output
	}
	for _, m := range cargoFailed.FindAllStringSubmatch(text, -1) {
		r.failures = append(r.failures, failure{m[1], said[m[1]]})
	}
	for _, m := range cargoBuild.FindAllStringSubmatch(text, -1) {
		r.counted = true
		r.failures = append(r.failures, failure{name: m[1] + " (build failed)"})
	}
	return r
}
