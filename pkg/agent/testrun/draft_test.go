package testrun_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

// TestADraftIsReadAndChangesNothingByItself writes the draft of each tree into it, and detects
// the tests again. Then it removes the comments from the settings, which have to be right as well.
func TestADraftIsReadAndChangesNothingByItself(t *testing.T) {
	for name, c := range map[string]struct {
		tree                    map[string]string
		tests, install, ownTest string // ownTest: the draft sets it
	}{
		"go":              {tree: map[string]string{"go.mod": "module m\n"}, tests: "go test -json ./...", install: "go mod download"},
		"npm with a lock": {tree: map[string]string{"package.json": `{"scripts":{"test":"jest"}}`, "package-lock.json": "{}"}, tests: "npm test -- --verbose", install: "npm ci"},
		"nothing":         {tree: map[string]string{"README.md": "# M\n"}},
		"a command of continuous integration": {tree: map[string]string{".github/workflows/ci.yml": "jobs: {t: {steps: [{run: \"cd x && pytest -q\"}]}}\n"},
			tests: "cd x && pytest -q", ownTest: "cd x && pytest -q"},
		"two modules": {tree: map[string]string{"a/go.mod": "module a\n", "b/go.mod": "module b\n"},
			tests: "(cd a; go test -json ./...) && (cd b; go test -json ./...)"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for file, content := range c.tree {
				tree[file] = &fstest.MapFile{Data: []byte(content)}
			}
			found, err := testrun.Find(tree)
			if err != nil {
				t.Fatal(err)
			}
			if (len(found.Programs) == 0) != (c.tests == "" || c.ownTest != "") {
				t.Errorf("the tests start %q", found.Programs)
			}
			if found.Tests != c.tests || found.Install != c.install {
				t.Errorf("found %q and %q, want %q and %q", found.Tests, found.Install, c.tests, c.install)
			}
			before, wrong := testrun.Detect(tree)
			draft := found.Draft()
			tree[testrun.ConfigFile] = &fstest.MapFile{Data: []byte(draft)}
			plan, err := testrun.Detect(tree)
			switch {
			case c.ownTest != "":
				if err != nil || plan.Command() != c.ownTest {
					t.Errorf("with the draft the tests are %q (%v), want %q", plan.Command(), err, c.ownTest)
				}
			case plan.Command() != before.Command() || errors.Is(err, testrun.ErrNoTests) != errors.Is(wrong, testrun.ErrNoTests):
				t.Errorf("with the draft the tests are %q (%v), before %q (%v)", plan.Command(), err, before.Command(), wrong)
			}
			for _, key := range []string{"test", "setup", "lint", "type_check", "env", "judges", "product"} {
				draft = strings.Replace(draft, "# "+key+": ", key+": ", 1)
			}
			tree[testrun.ConfigFile] = &fstest.MapFile{Data: []byte(draft)}
			if plan, err := testrun.Detect(tree); err != nil || plan.Source != testrun.ConfigFile {
				t.Errorf("without the comments the tests are of %q (%v), want those of the file\n%s", plan.Source, err, draft)
			}
		})
	}
}
