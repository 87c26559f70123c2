package modeltest_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
)

func TestAStepIsTheCallOfTheToolThatThereIs(t *testing.T) {
	read, edit := modeltest.Step{Read: "/w/a.txt"}, modeltest.Step{Edit: &modeltest.Edit{Path: "/w/a.txt", Old: "b\n", New: "c\n"}}
	write, run := modeltest.Step{Write: &modeltest.File{Path: "/w/n.txt", Text: "n\n"}}, modeltest.Step{Run: "ls"}
	state := modeltest.Step{State: map[string]any{"status": "success"}}
	for name, c := range map[string]struct {
		step     modeltest.Step
		tools    []string
		want     string // the tool; "": it is words
		has, not string // in its arguments or words
	}{
		"read by Claude Code":        {read, []string{"Bash", "Read"}, "Read", `"file_path":"/w/a.txt"`, "filePath"},
		"read by opencode":           {read, []string{"bash", "read"}, "read", `"filePath":"/w/a.txt"`, "file_path"},
		"read by gemini":             {read, []string{"read_file"}, "read_file", `"file_path":"/w/a.txt"`, "filePath"},
		"read by a shell":            {read, []string{"exec_command"}, "exec_command", "cat /w/a.txt", "path"},
		"edited by Claude Code":      {edit, []string{"Edit"}, "Edit", `"old_string":"b\n"`, "instruction"},
		"edited by gemini":           {edit, []string{"replace"}, "replace", `"instruction"`, "oldString"},
		"edited by a patch":          {edit, []string{"apply_patch"}, "apply_patch", `-b\n+c\n`, "Add File"},
		"edited by a shell":          {edit, []string{"shell"}, "shell", "perl", "old_string"},
		"written by opencode":        {write, []string{"write"}, "write", `"content":"n\n"`, "file_path"},
		"written by a patch":         {write, []string{"apply_patch"}, "apply_patch", "Add File: /w/n.txt", "Update"},
		"run by goose":               {run, []string{"developer__shell"}, "developer__shell", `"command":"ls"`, "cmd"},
		"run where there is none":    {run, []string{"Read"}, "", "there is no shell", ""},
		"stated by Claude Code":      {state, []string{"StructuredOutput"}, "StructuredOutput", `"status":"success"`, ""},
		"stated in words":            {state, []string{"bash"}, "", `{"status":"success"}`, ""},
		"words where nothing is set": {modeltest.Step{Say: "so"}, []string{"bash"}, "", "so", ""},
	} {
		t.Run(name, func(t *testing.T) {
			turn := modeltest.Steps(c.step)(modeltest.Request{Tools: c.tools})
			tool, text := "", turn.Text
			if len(turn.Calls) > 0 {
				tool, text = turn.Calls[0].Name, turn.Calls[0].Args
			}
			if tool != c.want || !strings.Contains(text, c.has) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("it calls %q: %s", tool, text)
			}
		})
	}
}

func TestStepsFollowTheConversation(t *testing.T) {
	script := modeltest.Steps(modeltest.Step{Run: "one"}, modeltest.Step{Run: "two"}, modeltest.Step{Say: "the end"})
	for calls, want := range []string{"one", "two", "the end", "the end"} {
		turn := script(modeltest.Request{Tools: []string{"bash"}, Calls: make([]string, calls)})
		text := turn.Text
		if len(turn.Calls) > 0 {
			text = turn.Calls[0].Args
		}
		if !strings.Contains(text, want) {
			t.Errorf("after %d calls it is %q, want %q", calls, text, want)
		}
	}
	if turn := script(modeltest.Request{}); len(turn.Calls) > 0 || turn.Text == "" {
		t.Errorf("without tools it answers %+v", turn)
	}
	if turn := script(modeltest.Request{Object: true}); !strings.HasPrefix(turn.Text, "{") {
		t.Errorf("asked for an object it answers %+v", turn)
	}
}
