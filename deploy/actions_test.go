package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// actions is the part of the workflow format of GitHub Actions that ours uses.
type actions struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Needs       string            `yaml:"needs"`
		Permissions map[string]string `yaml:"permissions"`
		Steps       []struct {
			Uses string            `yaml:"uses"`
			Run  string            `yaml:"run"`
			With map[string]any    `yaml:"with"`
			Env  map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

func readActions(t *testing.T) actions {
	t.Helper()
	text, err := os.ReadFile("github-actions/signalbox-pipeline.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w actions
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	if len(w.Jobs) != 3 {
		t.Fatalf("there are %d jobs", len(w.Jobs))
	}
	return w
}

func TestTheWorkflowTrustsNothingThatCanChange(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w.-]+/[\w.-]+@[0-9a-f]{40}$`)
	w := readActions(t)
	if w.Permissions == nil || len(w.Permissions) != 0 {
		t.Errorf("the permissions of all jobs are %v, want none", w.Permissions)
	}
	for name, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				t.Errorf("%s uses %s, want a commit", name, step.Uses)
			}
			if strings.Contains(step.Run, "${{") {
				t.Errorf("%s pastes a value into a script, want it in the environment:\n%s", name, step.Run)
			}
		}
	}
}

func TestWhatThinksHoldsNoTokenThatCanWrite(t *testing.T) {
	job := readActions(t).Jobs["pipeline"]
	for what, may := range job.Permissions {
		if may != "read" {
			t.Errorf("it may %s %s", may, what)
		}
	}
	ran := false
	for _, step := range job.Steps {
		if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
			t.Error("a checkout leaves its token in the work tree")
		}
		if strings.Contains(step.Run, "signalbox pipeline run") {
			ran = true
			for name, value := range step.Env {
				if strings.Contains(value, "github.token") || strings.Contains(value, "SIGNALBOX_TOKEN") {
					t.Errorf("it is given %s", name)
				}
			}
		}
	}
	if !ran {
		t.Error("nothing runs the pipeline")
	}
}

func TestTheWorkflowCallsWhatThereIs(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "signalbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", bin, "./services/signalbox")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), bin, "pipeline", "run", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var called []string
	for _, job := range readActions(t).Jobs {
		for _, step := range job.Steps {
			for line := range strings.Lines(strings.ReplaceAll(step.Run, "\\\n", " ")) {
				if words := strings.Fields(line); len(words) > 2 && words[0] == "signalbox" {
					if !slices.Equal(words[1:3], []string{"pipeline", "run"}) {
						t.Errorf("it calls %q", words)
					}
					called = append(called, words[3:]...)
				}
			}
		}
	}
	flags := 0
	for _, word := range called {
		if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "--") {
			if flags++; !knows(string(out), flag) {
				t.Errorf("there is no flag %s", flag)
			}
		}
	}
	if flags < 5 {
		t.Errorf("only %d flags are found in %q", flags, called)
	}
}
