package role_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// program is a brain that is a program, with the operator's templates in dir, if any.
func program(t *testing.T, script, dir string) brain.Brain {
	t.Helper()
	set, err := prompt.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := exec.Presets{}.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	b, err := exec.New(exec.Config{Program: p, Prompts: set})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The developer's own change of a template, and of the guidance, is in the tree and counts
// for nobody.
func TestPromptsAreMadeOfTheBase(t *testing.T) {
	e := newEnv(t, map[string]string{"go.mod": "module x\n", "AGENTS.md": "Write short names.", "CLAUDE.md": "Write short names.",
		".signalbox/prompts/developer.tmpl":   "{{template \"head\" .}}The team's words.\n{{template \"rest\" .}}",
		".signalbox/prompts/analyst.tmpl":     "a\n{{.Isue}}",
		".signalbox/prompts/tester.else.tmpl": "{{.Isue}}"})
	const changes = "mkdir -p .signalbox/prompts && for f in AGENTS.md .signalbox/prompts/developer.tmpl .signalbox/prompts/tester.tmpl; do echo theirs >$f; done"
	job := e.job("developer", "implementing")
	job.Steps = func(context.Context) ([]work.PastStep, error) {
		return []work.PastStep{{State: "analyzing_requirements", Role: "analyst", Status: "success", Said: "- two and two is four"}}, nil
	}
	first, err := e.do(job, program(t, changes, ""))
	if err != nil || first.Head == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	asked := e.artifact(first, "implementing.prompt")
	for _, want := range []string{"The team's words.", "Write short names.", "- two and two is four",
		`It is tested with "go test -json ./...".`} {
		if strings.Count(asked, want) != 1 {
			t.Errorf("%q is there %d times in\n%s", want, strings.Count(asked, want), asked)
		}
	}
	for name, want := range map[string]string{"developer": "The team's words.", "tester": "## Your work"} {
		job := e.job(name, "fixing_issues", first)
		job.Notes = []instance.NoteEntry{{Kind: prompt.NoteKind, Text: "theirs is not there"}}
		r, err := e.do(job, program(t, `echo '{"status":"failure"}' >$SIGNALBOX_RESULT`, ""))
		if err != nil {
			t.Fatal(err)
		}
		if asked := e.artifact(r, "fixing_issues.prompt"); !strings.Contains(asked, want) || !strings.Contains(asked, "Write short names.") ||
			strings.Contains(asked, "theirs") {
			t.Errorf("the %s is asked\n%s", name, asked)
		}
	}
}

func TestATemplateOfTheRepositoryThatIsWrongIsToldOfAndTheShippedOneIsUsed(t *testing.T) {
	e := newEnv(t, map[string]string{".signalbox/prompts/analyst.tmpl": "a\n{{.Isue}}"})
	job := e.job("analyst", "analyzing_requirements")
	notes, said := "", "nothing but a shipped template"
	job.Note = func(_ context.Context, kind, text string) error { notes += kind + ": " + text; return nil }
	job.Progress = func(format string, args ...any) {
		if format == "prompt: %s" {
			said = args[0].(string)
		}
	}
	r, err := e.do(job, program(t, `echo '{"status":"success"}' >$SIGNALBOX_RESULT`, ""))
	if err != nil || r.Status != instance.Success {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := "template: a template of the prompt cannot be used, shipped/analyst.tmpl (shipped) is in its place: .signalbox/prompts/analyst.tmpl:2:2: "; !strings.HasPrefix(notes, want) {
		t.Errorf("noted is %q, want %q", notes, want)
	}
	if said != "nothing but a shipped template" || !strings.Contains(e.artifact(r, "analyzing_requirements.prompt"),
		"acceptance criteria as a list") {
		t.Errorf("it was made from %s", said)
	}
}

func TestTheOperatorsTemplateWinsOverTheRepositorys(t *testing.T) {
	e := newEnv(t, map[string]string{".signalbox/prompts/analyst.analyzing_requirements.tmpl": "of the repository"})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "analyst.tmpl"), []byte("of the operator: {{.Issue.Title}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := e.do(e.job("analyst", "analyzing_requirements"), program(t, `echo '{"status":"success"}' >$SIGNALBOX_RESULT`, dir))
	if got := e.artifact(r, "analyzing_requirements.prompt"); err != nil || strings.TrimSpace(got) != `of the operator: "The sum is wrong"` {
		t.Errorf("%q, %v", got, err)
	}
}

// artifact is what a step left under a name.
func (e *env) artifact(r instance.Result, name string) string {
	e.Helper()
	for _, a := range r.Artifacts {
		if a.Name == name {
			return string(e.objects.all[a.Object])
		}
	}
	e.Fatalf("there is no %s in %+v", name, r)
	return ""
}
