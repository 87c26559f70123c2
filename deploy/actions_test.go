package deploy_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
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
	bin := filepath.Join(programtest.Services(t), "signalbox")
	flags, called := 0, map[string]bool{}
	for _, job := range readActions(t).Jobs {
		for _, step := range job.Steps {
			for line := range strings.Lines(strings.ReplaceAll(step.Run, "\\\n", " ")) {
				words := strings.Fields(line)
				if len(words) < 3 || words[0] != "signalbox" {
					continue
				}
				called[strings.Join(words[1:3], " ")] = true
				help, err := exec.CommandContext(t.Context(), bin, words[1], words[2], "--help").CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v\n%s", line, err, help)
				}
				for _, word := range words {
					if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "--") {
						if flags++; !knows(string(help), flag) && flag != "--json" {
							t.Errorf("%s %s has no flag %s", words[1], words[2], flag)
						}
					}
				}
			}
		}
	}
	if want := map[string]bool{"pipeline run": true, "pipeline check": true, "pipeline reason": true}; flags < 8 || !maps.Equal(called, want) {
		t.Errorf("it calls %v, with %d flags", called, flags)
	}
}

func TestWhatHoldsATokenTakesOnlyWhatWasChecked(t *testing.T) {
	jobs := readActions(t).Jobs
	checked := false
	for _, step := range jobs["hand-in"].Steps {
		if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
			t.Error("a checkout leaves its token in the work tree")
		}
		checked = checked || strings.Contains(step.Run, "signalbox pipeline check") && step.Env["GH_TOKEN"] == ""
		if step.Env["GH_TOKEN"] == "" {
			continue
		}
		if !checked {
			t.Errorf("it holds the token before there was a check:\n%s", step.Run)
		}
		for _, raw := range []string{"outcome.json", "change.bundle", "issue-state.json", "/signalbox/"} {
			if strings.Contains(step.Run, raw) {
				t.Errorf("it believes %s:\n%s", raw, step.Run)
			}
		}
		if !strings.Contains(step.Run, `branch="agent/issue-$NUMBER"`) || strings.Contains(step.Run, `$NUMBER"*`) || strings.Contains(step.Run, "--force") {
			t.Errorf("it may push another branch:\n%s", step.Run)
		}
		if regexp.MustCompile(`git [^\n]*(\$GH_TOKEN|\$auth)`).MatchString(step.Run) {
			t.Errorf("a token is an argument:\n%s", step.Run)
		}
	}
	if !checked {
		t.Error("nothing checks what was left")
	}
	for _, step := range jobs["tell"].Steps {
		if step.Env["GH_TOKEN"] != "" && (!strings.Contains(step.Run, "signalbox pipeline reason") || strings.Contains(step.Run, "jq")) {
			t.Errorf("it says what the job left, as it is:\n%s", step.Run)
		}
	}
}
