package pipeline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

func TestWhatMustNotBeDoneIsHeldAgainstWhatWasTouched(t *testing.T) {
	m, a, d := "M ", "A ", "D "
	for _, c := range []struct {
		said    string
		touched []string
		broken  []string
	}{
		{"Don't modify src/api.ts", []string{m + "src/api.ts", m + "src/api.tsx"}, []string{"src/api.ts"}},
		{"Do not touch `config/`", []string{a + "config/x/y.yaml", m + "configs.go"}, []string{"config/x/y.yaml"}},
		{"do not change any files in src/legacy or docs/*.md.", []string{m + "src/legacy/a.js", m + "docs/a.md", m + "docs/b/a.md"}, []string{"docs/a.md", "src/legacy/a.js"}},
		{"Never edit package.json, package-lock.json", []string{m + "web/package.json", m + "package-lock.json"}, []string{"package-lock.json", "web/package.json"}},
		{"must not touch **/*_generated.go", []string{m + "a_generated.go", m + "x/y_generated.go"}, []string{"a_generated.go", "x/y_generated.go"}},
		{"No changes to the file Makefile.in", []string{m + "Makefile.in"}, []string{"Makefile.in"}},
		{"Leave go.mod and go.sum untouched", []string{m + "go.sum"}, []string{"go.sum"}},
		{"Don't delete tests/", []string{m + "tests/a.js", d + "tests/b.js"}, []string{"tests/b.js"}},
		{"Avoid adding files to src/core", []string{m + "src/core/a.js", a + "src/core/b.js"}, []string{"src/core/b.js"}},
		{"Don't modify README or docs/", []string{m + "README.md", a + "docs/x", m + "readmes.md"}, []string{"README.md", "docs/x"}},
		{"DO NOT MODIFY ./src/a.go", []string{m + "src/a.go"}, []string{"src/a.go"}},
		// Of what cannot be seen in the names of files it says nothing.
		{"Don't refactor the existing state management", []string{m + "src/state.ts"}, nil},
		{"Don't modify the API response format in src/api.ts", []string{m + "src/api.ts"}, nil},
		{"Don't change `Cents` or its callers", []string{m + "Cents", m + "money.go"}, nil},
		{"Don't edit https://example.com/a.md", []string{m + "a.md"}, nil},
		{"Don't move to version 2.0, e.g. in CI", []string{d + "2.0"}, nil},
		{"Keep it simple", []string{m + "a.go"}, nil},
	} {
		var files []work.FileChange
		for _, f := range c.touched {
			status, name, _ := strings.Cut(f, " ")
			files = append(files, work.FileChange{Path: name, Status: status})
		}
		section := encode(map[string]any{"must_not_do": []string{c.said}})
		var got []string
		for _, b := range Broken(work.Assignment{Role: "writer", State: "writer", Sections: map[string]json.RawMessage{"analysis": section}}, files) {
			name, words, _ := strings.Cut(b, ": ")
			if got = append(got, name); !strings.Contains(words, c.said) {
				t.Errorf("%q does not say why", b)
			}
		}
		if !slices.Equal(got, c.broken) {
			t.Errorf("%q forbids %q of %q, want %q", c.said, got, c.touched, c.broken)
		}
	}
}
