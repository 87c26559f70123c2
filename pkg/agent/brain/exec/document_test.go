package exec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// documents is a document of one section a role. It implements exec.Documents.
type documents struct{ err error }

func (d documents) Render(a brain.Assignment) ([]byte, error) {
	if a.Workflow != "pipeline" {
		return nil, d.err
	}
	return []byte(`{"writer": {"summary": ""}, "review": {"verdict": ""}, "ask": ""}` + "\n"), d.err
}

func (documents) Read(a brain.Assignment, _, after []byte) (out brain.Outcome, err error) {
	var now map[string]json.RawMessage
	if err := json.Unmarshal(after, &now); err != nil {
		return out, fmt.Errorf("it is not JSON: %w", err)
	}
	if string(now["writer"]) != `{"summary": ""}` {
		out.Declared = true
		out.Result = instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "as the document says", Data: map[string]string{"k": "document", "d": "1"}}
		out.Result.Sections = map[string]string{a.Role: string(now["writer"])}
	}
	if string(now["review"]) != `{"verdict": ""}` {
		out.Refused = append(out.Refused, "review")
	}
	if text := string(now["ask"]); text != `""` {
		out.Asks = []instance.Inquiry{{To: "analyst", Question: text}}
	}
	return out, nil
}

func pipeline(t *testing.T, script string) (brain.Assignment, exec.Config) {
	a := assignment(t)
	a.Workflow, a.Role, a.State = "pipeline", "writer", "writer"
	cfg := program(t, script)
	cfg.Documents = documents{}
	return a, cfg
}

func TestAProgramFindsTheDocumentAndItsChangeIsItsResult(t *testing.T) {
	const change = `sed -i 's/"summary": ""/"summary": "done"/' issue-state.json; `
	for name, c := range map[string]struct {
		script string
		want   func(brain.Outcome) bool
	}{
		"left as it is": {`test -s issue-state.json; echo fine`, func(out brain.Outcome) bool {
			return !out.Declared && out.Result.Summary == "fine" && out.Result.Sections == nil
		}},
		"its own section": {change + `echo fine`, func(out brain.Outcome) bool {
			return out.Declared && out.Result.Summary == "as the document says" && out.Result.Sections["writer"] == `{"summary": "done"}` && out.Result.Spend.WallMS >= 0
		}},
		"by its variable":       {`sed -i 's/"summary": ""/"summary": "done"/' "$SIGNALBOX_DOCUMENT"`, func(out brain.Outcome) bool { return out.Declared }},
		"where an action looks": {`sed -i 's/"summary": ""/"summary": "done"/' "$GITHUB_WORKSPACE/issue-state.json"`, func(out brain.Outcome) bool { return out.Declared }},
		"and that of another": {change + `sed -i 's/"verdict": ""/"verdict": "APPROVED"/' issue-state.json`, func(out brain.Outcome) bool {
			return slices.Equal(out.Refused, []string{"review"}) && len(out.Result.Sections) == 1
		}},
		"a question": {`sed -i 's/"ask": ""/"ask": 1/' issue-state.json; echo asked`, func(out brain.Outcome) bool {
			return !out.Declared && len(out.Asks) == 1 && out.Asks[0].To == "analyst" && out.Result.Status == instance.Success
		}},
		"a result of its own, too": {change + `echo '{"status":"failure","summary":"not yet","data":{"k":"stated"},"sections":{"other":{}}}' > "$SIGNALBOX_RESULT"`, func(out brain.Outcome) bool {
			r := out.Result
			return out.Declared && r.Status == instance.Failure && r.Summary == "not yet" && r.Data["k"] == "stated" && r.Data["d"] == "1" && len(r.Sections) == 2
		}},
		"removed": {`rm issue-state.json`, func(out brain.Outcome) bool { return len(out.Refused) == 1 && strings.Contains(out.Refused[0], "gone") }},
	} {
		t.Run(name, func(t *testing.T) {
			a, cfg := pipeline(t, "set -e; "+c.script)
			out, err := work(t, cfg, a)
			if err != nil || !c.want(out) {
				t.Errorf("it came to %+v, %v", out, err)
			}
			if left, err := os.ReadDir(a.Dir); err != nil || len(left) != 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}

func TestADocumentThatIsNoneAnyMoreIsAFailure(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"not JSON":     {`echo no > issue-state.json`, "issue-state.json: it is not JSON"},
		"empty":        {`: > issue-state.json`, "issue-state.json: it is not JSON"},
		"a directory":  {`rm issue-state.json; mkdir -p issue-state.json/a`, "no plain file"},
		"a link":       {`ln -sf /etc/passwd issue-state.json`, "want a plain file"},
		"far too much": {`head -c 5000000 /dev/zero > issue-state.json`, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			a, cfg := pipeline(t, c.script)
			_, err := work(t, cfg, a)
			if err == nil || errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("err %v", err)
			}
			if left, err := os.ReadDir(a.Dir); err != nil || len(left) != 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}

func TestWhatAFailedProgramWroteIntoTheDocumentDoesNotCount(t *testing.T) {
	a, cfg := pipeline(t, `echo no > issue-state.json; exit 3`)
	if _, err := work(t, cfg, a); err == nil || strings.Contains(err.Error(), "JSON") {
		t.Errorf("err %v", err)
	}
}

func TestWhatTheRepositoryHasUnderTheDocumentsNameComesBack(t *testing.T) {
	a, cfg := pipeline(t, `grep -q verdict notes/state.json && echo x > notes/state.json.mine && echo '{}' > notes/state.json; test ! -e issue-state.json`)
	cfg.StateFile, cfg.Documents = "notes/state.json", documents{}
	file := filepath.Join(a.Dir, "notes", "state.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("ours"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := work(t, cfg, a); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	info, serr := os.Stat(file)
	if err != nil || serr != nil || string(text) != "ours" || info.Mode().Perm() != 0o600 {
		t.Errorf("it is %q, %v, %v", text, info, err)
	}
	if _, err := os.Stat(file + ".mine"); err != nil {
		t.Errorf("what the program wrote beside it: %v", err)
	}
}

func TestWithoutADocumentThereIsNoFile(t *testing.T) {
	script := `test ! -e issue-state.json && test -z "$SIGNALBOX_DOCUMENT$GITHUB_WORKSPACE"`
	_, cfg := pipeline(t, script)
	if out, err := work(t, cfg, assignment(t)); err != nil || out.Refused != nil { // of another lifecycle
		t.Errorf("%+v, %v", out, err)
	}
	a, cfg := pipeline(t, script)
	cfg.Documents = nil
	if out, err := work(t, cfg, a); err != nil || out.Refused != nil {
		t.Errorf("%+v, %v", out, err)
	}
	a, cfg = pipeline(t, script)
	cfg.Documents = documents{errors.New("torn")}
	if _, err := work(t, cfg, a); !errors.Is(err, brain.ErrInfrastructure) {
		t.Errorf("err %v", err)
	}
	for _, name := range []string{"../state.json", "/tmp/state.json", ".git/config", "."} {
		cfg.StateFile = name
		if _, err := exec.New(cfg); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestADocumentIsThereWithoutCodeToo(t *testing.T) {
	a, cfg := pipeline(t, `set -e; sed -i 's/"summary": ""/"summary": "done"/' issue-state.json; grep -q 'file issue-state.json' "$SIGNALBOX_PROMPT"; grep -q 'no code' "$SIGNALBOX_PROMPT"`)
	a.Dir = ""
	if out, err := work(t, cfg, a); err != nil || !out.Declared {
		t.Errorf("%+v, %v", out, err)
	}
}
