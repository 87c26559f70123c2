package testrun_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

func TestWhereNoTestsAreFoundTheCommandOfTheRepositorysOwnPipelineIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"a workflow": {[]string{".github/workflows/ci.yml", "on: push\njobs:\n  a:\n    steps:\n      - uses: x/checkout@v4\n      - run: |\n          ./configure\n          make check\n"},
			`test: {command: "make check"}, which is a command of .github/workflows/ci.yml`},
		"a pipeline":            {[]string{".gitlab-ci.yml", "test:\n  script:\n    - ./gradlew --no-daemon test\n"}, `test: {command: "./gradlew --no-daemon test"}, which is a command of .gitlab-ci.yml`},
		"a container":           {[]string{".devcontainer/devcontainer.json", "{\n  // a remark\n  \"postCreateCommand\": \"make test\"\n}\n"}, `test: {command: "make test"}, which is a command of .devcontainer/devcontainer.json`},
		"a command of a matrix": {[]string{".github/workflows/ci.yml", "jobs: {a: {steps: [{run: 'make test TARGET=${{ matrix.x }}'}]}}\n"}, `test: {command: "…"}`},
		"a command that breaks out of its quotes": {[]string{".github/workflows/ci.yml", "jobs: {a: {steps: [{run: 'make test\"} x'}]}}\n"}, `test: {command: "…"}`},
		"a name of a step":                        {[]string{".github/workflows/ci.yml", "jobs: {a: {steps: [{name: make test, uses: x}]}}\n"}, `test: {command: "…"}`},
		"a text that is no YAML":                  {[]string{".github/workflows/ci.yml", "a: [\n"}, `test: {command: "…"}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testrun.Detect(tree(c.files...))
			if err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got %v, want the end %s", err, c.want)
			}
		})
	}
}

func TestTheCommandThatInstallsAMissingProgramInThePipelineIsNamed(t *testing.T) {
	files := []string{".signalbox.yaml", "test: {command: ./run}\n", ".github/workflows/ci.yml", "jobs: {a: {steps: [{run: sudo apt-get update}, {run: sudo apt-get install -y cmake ninja-build}]}}\n"}
	plan, err := testrun.Detect(tree(files...))
	if err != nil {
		t.Fatal(err)
	}
	const want = "; .github/workflows/ci.yml runs: sudo apt-get install -y cmake ninja-build"
	if got := testrun.Missing("./run: line 3: cmake: command not found\n", plan, write(t, files...), sandbox.Bwrap); !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
	if got := testrun.Missing("./run: line 3: meson: command not found\n", plan, write(t, files...), sandbox.Bwrap); strings.Contains(got, "ci.yml") {
		t.Errorf("got %s", got)
	}
}
