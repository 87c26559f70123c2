package eval

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheMessageOfACommitIsTheTextOfACase(t *testing.T) {
	for message, want := range map[string][2]string{
		"Fix the sum (#12)\n\nIt was one too high.\n\nSigned-off-by: Ann <a@example.test>": {"Fix the sum", "It was one too high."},
		"Merge pull request #7 from ann/sum\n\nFix the sum\n\nLong text.":                  {"Fix the sum", "Long text."},
		"Merge branch 'main'": {"Merge branch 'main'", ""},
		"\n":                  {"", ""},
	} {
		if title, body := parseMessage(message); title != want[0] || body != want[1] {
			t.Errorf("%q: %q, %q, want %q", message, title, body, want)
		}
	}
}

func TestABrainIsNamedOrNamesItself(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cheap.yaml")
	if err := os.WriteFile(file, []byte("brain: [developer=exec:true]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]contender{
		"oracle":                {name: "oracle"},
		"exec:./fix.sh":         {name: "fix", spec: "exec:./fix.sh"},
		"exec:claude --model x": {name: "claude", spec: "exec:claude --model x"},
		"fast=exec:a b=c":       {name: "fast", spec: "exec:a b=c"},
		"cheap=@" + file:        {name: "cheap", file: file},
		"@" + file:              {name: "cheap", file: file},
	} {
		if got, err := parseContender(value); err != nil || got.name != want.name || got.spec != want.spec || got.file != want.file {
			t.Errorf("%s: %+v, %v, want %+v", value, got, err, want)
		}
	}
	for value, says := range map[string]string{
		"null=exec:true": "taken", "x=@nowhere.yaml": "no such file", "fast=claude": "want NAME=SPEC", "../x=exec:true": "letters, digits", "": "want NAME=SPEC",
	} {
		if _, err := parseContender(value); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", value, err, says)
		}
	}
}

func TestPoliciesAreSetForAllBrainsOrOne(t *testing.T) {
	all := []contender{{name: "a"}, {name: "b"}}
	if err := setPolicies(all, []string{"policy.max_iterations=3", "b:policy.red_first=always"}); err != nil {
		t.Fatal(err)
	}
	if got := string(overlay("issue", all[1].set)); got != "workflow: measured\nversion: 1\nextends: issue\npolicy:\n  max_iterations: 3\n  red_first: always\n" ||
		len(all[0].set) != 1 {
		t.Errorf("a has %v, b %s", all[0].set, got)
	}
	for value, says := range map[string]string{"max_iterations=3": "want policy.NAME", "policy.x": "want policy.NAME", "c:policy.x=1": "no brain c"} {
		if err := setPolicies(all, []string{value}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", value, err, says)
		}
	}
}

func TestCasesThatCannotBeReadAreNamedByTheirLine(t *testing.T) {
	good := Case{ID: "c1", Title: "Fix it", Base: strings.Repeat("a", 40), Commit: strings.Repeat("b", 40), Tests: []string{"a_test.go"}}
	line := strings.TrimSpace(string(good.encode()))
	for _, c := range []struct{ text, says string }{
		{line + "\n" + line, ":2: case c1 is there twice"},
		{strings.Replace(line, "a_test.go", "../a", 1), ":1: test \"../a\" is not a path"},
		{strings.Replace(line, "aaa", "xyz", 1), "full ids of commits"},
		{strings.Replace(line, `"id"`, `"ID_"`, 1), "unknown field"},
		{"", "has no cases"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, casesFile), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readCases(dir); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want %q", err, c.says)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, casesFile), []byte(line+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readCases(dir); err == nil || !strings.Contains(err.Error(), "has to lie next to cases.jsonl") {
		t.Errorf("without the repository: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, casesRepo), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, _, err := readCases(filepath.Join(dir, casesFile)); err != nil || len(got) != 1 || !slices.Equal(got[0].Tests, good.Tests) {
		t.Errorf("got %+v, %v", got, err)
	}
}
