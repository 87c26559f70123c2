package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// call matches a line of a shell example that runs one of the binaries.
var call = regexp.MustCompile(`(?m)^(?:bin/)?(signalbox|orchestrator|gateway|pm|analyst|tester|developer|navigator) (.*)$`)

func TestEveryCommandThatIsShownExists(t *testing.T) {
	seen, helps := 0, map[string]string{} // by call: pages show the same ones
	for _, name := range current(t) {
		for _, block := range fence.FindAllStringSubmatch(page(t, name), -1) {
			if block[1] != "sh" {
				continue
			}
			for _, m := range call.FindAllStringSubmatch(strings.ReplaceAll(block[2], "\\\n", " "), -1) {
				seen++
				parses(t, helps, name, m[1], m[2])
			}
		}
	}
	if seen < 10 {
		t.Fatalf("only %d commands found", seen)
	}
}

// current returns the names of the pages that describe the present, from the root, but for those of
// programs that the tests of this package do not build.
func current(t *testing.T) (names []string) {
	t.Helper()
	for name := range pages(t) {
		if name != "CHANGELOG.md" && name != "docs/bench.md" && name != "docs/eval.md" && !strings.HasPrefix(name, "docs/adr/") {
			names = append(names, name)
		}
	}
	return names
}

// parses checks a call against the help of its subcommand: each flag must exist. It keeps the
// helps.
func parses(t *testing.T, helps map[string]string, page, service, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(line)
	var sub []string
	if service == "signalbox" && len(words) > 0 {
		sub = words[:1]
		if slices.Contains([]string{"auth", "definition", "github"}, words[0]) {
			sub = words[:2]
		}
		if words[0] == "console" && !slices.Contains(words, "login") { // what it does by itself
			sub = []string{"console", "serve"}
		}
	}
	key := service + " " + strings.Join(sub, " ")
	text, kept := helps[key]
	if !kept {
		var err error
		if text, err = help(t, binary(t, service), sub...); err != nil {
			t.Errorf("%s: %s %s: %v\n%s", page, service, line, err, text)
			return
		}
		helps[key] = text
	}
	for _, flag := range unknownFlags(words, text) {
		t.Errorf("%s: %s %s: there is no flag %s", page, service, line, flag)
	}
}

// unknownFlags returns the flags of a call that the help does not have.
func unknownFlags(words []string, help string) []string {
	var unknown []string
	for _, word := range words {
		flag, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(flag, "--") && !regexp.MustCompile(regexp.QuoteMeta(flag)+`(?:[=\s]|$)`).MatchString(help) {
			unknown = append(unknown, flag)
		}
	}
	return unknown
}

func TestEverySubcommandThatTextNamesExists(t *testing.T) {
	all, err := help(t, binary(t, "signalbox"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(current(t), "CHANGELOG.md", "docs/adr/0012-durability.md") {
		for _, m := range regexp.MustCompile("`(?:bin/)?signalbox ([a-z]+)( [^`]*)?`").FindAllStringSubmatch(page(t, name), -1) {
			if _, err := os.Stat(filepath.Join(root, "services", m[1], "main.go")); err == nil {
				continue // a service, which the program serves by its name
			}
			if !regexp.MustCompile(`(?m)^  ` + m[1] + `\b`).MatchString(all) {
				t.Errorf("%s: there is no signalbox %s", name, m[1])
			}
		}
	}
}
