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
		Steps       []step            `yaml:"steps"`
	} `yaml:"jobs"`
}

type step struct {
	ID   string            `yaml:"id"`
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	With map[string]any    `yaml:"with"`
	Env  map[string]string `yaml:"env"`
}

// local is the workflow's call of action.yml at the root: its steps are part of the job.
const local = "./.signalbox"

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
	for name, job := range w.Jobs {
		var steps []step
		for _, s := range job.Steps {
			if s.Uses != local {
				steps = append(steps, s)
				continue
			}
			for _, inner := range readAction(t) {
				if inner.ID == "run" && s.With["issue"] == nil {
					continue // the action installs the program and ends
				}
				inner.Env = maps.Clone(inner.Env)
				maps.Copy(inner.Env, s.Env)
				steps = append(steps, inner)
			}
		}
		job.Steps = steps
		w.Jobs[name] = job
	}
	return w
}

// readAction returns the steps of the action at the root.
func readAction(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Using string `yaml:"using"`
			Steps []step `yaml:"steps"`
		} `yaml:"runs"`
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 3 {
		t.Fatalf("action.yml has %d steps of %q, want 3 of composite", len(action.Runs.Steps), action.Runs.Using)
	}
	for i, s := range action.Runs.Steps {
		if s.Env == nil {
			action.Runs.Steps[i].Env = map[string]string{}
		}
	}
	return action.Runs.Steps
}

// TestTheActionRunsOnAnIssue plays the last step of the action as a runner does, with a program as the writer.
func TestTheActionRunsOnAnIssue(t *testing.T) {
	for _, tool := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: the action needs %s", tool)
		}
	}
	dir := t.TempDir()
	repo, temp := filepath.Join(dir, "repo"), filepath.Join(dir, "temp")
	for _, d := range []string{repo, temp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{
		"repo/go.mod": "module example.com/greet\n\ngo 1.22\n", "repo/greet.go": "package greet\n\nfunc Hello(name string) string { return \"Helo, \" + name + \"!\" }\n",
		"repo/greet_test.go": "package greet\n\nimport \"testing\"\n\nfunc TestHello(t *testing.T) {\n\tif Hello(\"Ann\") == \"\" {\n\t\tt.Error(Hello(\"Ann\"))\n\t}\n}\n",
		"temp/issue.json": `{"number": 7, "title": "Hello is spelled wrong", "labels": [], "url": "https://github.com/acme/greet/issues/7",
			"body": "Steps: call greet.Hello(\"Ann\").\nExpected: Hello, Ann!\nActual: Helo, Ann!\nWhere: greet.go, function Hello.\nDone when: the tests pass."}`,
		"temp/output": "", "writer.sh": "#!/bin/sh\nsed -i s/Helo/Hello/ greet.go\necho spell Hello right\n",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string, env ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
		c.Dir, c.Env = repo, append(os.Environ(), env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	run("git init -q -b main && git add --all && git -c user.name=Ann -c user.email=ann@example.test commit -qm Begin")
	steps := readAction(t)
	run(steps[len(steps)-1].Run, "PATH="+programtest.Services(t)+":"+os.Getenv("PATH"), "GITHUB_WORKSPACE="+repo, "RUNNER_TEMP="+temp,
		"GITHUB_OUTPUT="+filepath.Join(temp, "output"), "ISSUE="+filepath.Join(temp, "issue.json"), "WRITER=exec:"+filepath.Join(dir, "writer.sh"), "BRAIN_ENV=NOTHING")
	output, err := os.ReadFile(filepath.Join(temp, "output"))
	if err != nil || !strings.Contains(string(output), "\nbranch=agent/issue-7\n") {
		t.Errorf("the outputs are\n%s(%v), want the branch of issue 7", output, err)
	}
	if heads := run("git bundle list-heads change.bundle"); !strings.Contains(heads, "refs/heads/agent/issue-7") {
		t.Errorf("the bundle has %s", heads)
	}
}

func TestTheWorkflowTrustsNothingThatCanChange(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w.-]+/[\w.-]+@[0-9a-f]{40}$`)
	w := readActions(t)
	if w.Permissions == nil || len(w.Permissions) != 0 {
		t.Errorf("the permissions of all jobs are %v, want none", w.Permissions)
	}
	for name, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Uses != "" && step.Uses != local && !pinned.MatchString(step.Uses) {
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
