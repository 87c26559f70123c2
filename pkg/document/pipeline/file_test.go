package pipeline

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

const awkward = "a\nb\tc\\d \"e\" \\n \\c\n`$(f)` 'g' é %s"

func TestADocumentGoesThroughAShellsEcho(t *testing.T) {
	a := assignment("writer")
	a.Issue.Body = awkward
	before, err := Documents{}.Render(a)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "issue-state.json")
	if err := os.WriteFile(file, before, 0o644); err != nil {
		t.Fatal(err)
	}
	// What echo makes of an escape in the program's own text is mended, too.
	script := `STATE=$(cat "$0"); UPDATED_STATE=$(echo "$STATE" | sed 's/"summary": ""/"summary": "one\\ntwo"/'); echo "$UPDATED_STATE" > "$0"`
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Documents{}.Read(a, before, after)
	if err != nil || len(out.Refused) != 0 || out.Result.Summary != "one\ntwo" {
		t.Errorf("read is %+v, %v of\n%s", out, err, after)
	}
}

func TestEscapesWrittenAsNumbersAreTheSameText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(unspoken(encoded), &got); err != nil || got != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("%q became %q, %v", text, got, err)
		}
		if json.Valid(mended(encoded)) && string(mended(encoded)) != string(encoded) {
			t.Fatalf("%s is mended to %s", encoded, mended(encoded))
		}
	})
}

func TestOnlyLifecyclesThatHaveTheDocumentGetIt(t *testing.T) {
	a := work.Assignment{Workflow: "issue", Role: "analyst", State: "analyzing_requirements", Issue: instance.Issue{Title: "t"}}
	if text, err := (Documents{}).Render(a); text != nil || err != nil {
		t.Errorf("there is %s, %v", text, err)
	}
}
