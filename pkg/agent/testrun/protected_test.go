package testrun_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

func TestTheKindOfAFileIsWhatItIsToTheTests(t *testing.T) {
	for want, names := range map[testrun.Kind][]string{
		testrun.Harness: {"Makefile", "sub/GNUmakefile", "rules.mk", "package.json", "web/package.json", "conftest.py", "tests/conftest.py",
			"pytest.ini",
			"pyproject.toml", "setup.cfg", "tox.ini", "jest.config.js", "vitest.config.mts", ".mocharc.yml", ".npmrc", ".signalbox.yaml",
			".github/workflows/ci.yml", ".gitlab-ci.yml", ".cargo/config.toml", "sitecustomize.py", "babel.config.cjs",
			"page/go.mod", "go.work", "pytest.py", "unittest/__init__.py", "node_modules/.bin/jest"},
		testrun.Test: {"sum_test.go", "pkg/sum_test.go", "test_sum.py", "sum_test.py", "sum.test.ts", "sum.spec.jsx", "src/__tests__/sum.js",
			"tests/sum.rs", "testdata/in.txt", "pkg/testdata/a/b", "src/__snapshots__/a.snap", "test/helper.js"},
		testrun.Product: {"sum.go", "src/main.rs", "latest.py", "contest/main.go", "testing.go", "attestation.ts", "README.md", "go.mod",
			"Cargo.toml", "package-lock.json",
			"protest.js", "inspector/main.go"},
	} {
		for _, name := range names {
			if got := testrun.KindOf(name, []byte("package sum\n")); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	if got := testrun.KindOf("sum_test.go", []byte("package sum\n\nfunc TestMain(m *testing.M) {}\n")); got != testrun.Harness {
		t.Errorf("a file with TestMain is %q", got)
	}
}

func TestTheScriptsThatAPlanCallsAreFound(t *testing.T) {
	files := func(names ...string) fstest.MapFS {
		tree := fstest.MapFS{}
		for _, name := range names {
			name, text, _ := strings.Cut(name, ": ")
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return tree
	}
	for _, c := range []struct {
		name string
		tree fstest.MapFS
		want []string
	}{
		{"of the configuration", files(".signalbox.yaml: test: {command: sh ./check.sh && node app.js}", "check.sh: ", "app.js: "),
			[]string{"check.sh"}},
		{"of package.json", files(`package.json: {"scripts":{"test":"npm run all","all":"node scripts/run.js && node src/main.js"}}`,
			"scripts/run.js: ", "src/main.js: "),
			[]string{"scripts/run.js"}},
		{"of the Makefile, and what they call", files("Makefile: test:\n\t./ci/all.sh\n", "ci/all.sh: sh ci/one.sh; ./app", "ci/one.sh: ",
			"app: "), []string{"ci/all.sh", "ci/one.sh"}},
		{"none", files("go.mod: module a", "check.sh: "), nil},
		{"not out of the tree", files(".signalbox.yaml: test: {command: sh ../check.sh /etc/test.sh}", "check.sh: "), nil},
	} {
		plan, err := testrun.Detect(c.tree)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := testrun.Called(c.tree, plan); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPackageJSONKeepsWhatItSaysOfTestsAndTakesWhatItNeeds(t *testing.T) {
	before := `{"name":"w","scripts":{"test":"jest"},"jest":{"bail":true},"dependencies":{"a":"1"}}`
	for _, c := range []struct {
		change, want string
		same         bool
	}{
		{`{"name":"w","scripts":{"test":"jest"},"jest":{"bail":true},"dependencies":{"a":"2","b":"1"}}`,
			`{"dependencies":{"a":"2","b":"1"},"jest":{"bail":true},"name":"w","scripts":{"test":"jest"}}`, true},
		{`{"name":"w","scripts":{"test":"true"},"mocha":{},"dependencies":{}}`,
			`{"dependencies":{},"jest":{"bail":true},"name":"w","scripts":{"test":"jest"}}`, false},
		{`{"dependencies":{"a":"1"}}`, `{"dependencies":{"a":"1"},"jest":{"bail":true},"name":"w","scripts":{"test":"jest"}}`, false},
		{`not json`, before, false},
	} {
		merged, _ := testrun.PackageJSON([]byte(before), []byte(c.change))
		if got := strings.Join(strings.Fields(string(merged)), ""); got != c.want {
			t.Errorf("%s gives %s, want %s", c.change, got, c.want)
		}
		if got := testrun.SameHarness([]byte(before), []byte(c.change)); got != c.same {
			t.Errorf("%s is tested the same way: %v", c.change, got)
		}
	}
}
