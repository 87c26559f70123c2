package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Step is one thing that a coding agent's model does, whatever the agent calls its tools.
// One field is set.
type Step struct {
	Read  string         // a file
	Write *File          // a new file
	Edit  *Edit          // of a file
	Run   string         // a shell command
	Tool  *Call          // of an MCP server; its name is the end of the agent's, which may have to search it
	Say   string         // words, which end the work
	State map[string]any // a result, which ends the work

	Instead *Turn // of an answer, such as a fault
}

// File is a file to write. Paths are absolute.
type File struct{ Path, Text string }

// Edit is a change of a text that is in a file once.
type Edit struct{ Path, Old, New string }

// Steps is a script of the steps for a coding agent: the conversation is at the step after
// those it has called tools for. A request without tools, such as for a title, gets a short text.
func Steps(steps ...Step) Script {
	return func(r Request) Turn {
		switch {
		case r.Object: // who speaks next, how hard it is
			return Turn{Text: `{"reasoning":"so","next_speaker":"user","model_choice":"flash","complexity_score":50,"complexity_reasoning":"so"}`}
		case len(r.Tools) == 0:
			return Turn{Text: "A title"}
		}
		return steps[min(len(r.Calls), len(steps)-1)].turn(r)
	}
}

// turn returns the answer that is the step, with the tools that there are.
func (s Step) turn(r Request) Turn {
	has := func(name string) bool { return slices.Contains(r.Tools, name) }
	switch {
	case s.Instead != nil:
		return *s.Instead
	case s.Read != "" && has("Read"), s.Read != "" && has("read_file"), s.Read != "" && has("read"):
		return s.call(r, []string{"Read", "read_file", "read"}, map[string]any{"file_path": s.Read, "filePath": s.Read})
	case s.Read != "":
		return shell(r, "cat "+s.Read)
	case s.Edit != nil && has("apply_patch"):
		return patch(r, fmt.Sprintf("*** Update File: %s\n@@\n%s%s", s.Edit.Path, marked("-", s.Edit.Old), marked("+", s.Edit.New)))
	case s.Edit != nil && (has("Edit") || has("edit") || has("replace")):
		return s.call(r, []string{"Edit", "edit", "replace"}, map[string]any{"file_path": s.Edit.Path, "old_string": s.Edit.Old,
			"new_string": s.Edit.New, "filePath": s.Edit.Path, "oldString": s.Edit.Old, "newString": s.Edit.New, "instruction": "Correct it."})
	case s.Edit != nil:
		return shell(r, fmt.Sprintf(`OLD='%s' NEW='%s' perl -0777 -pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' %s`, s.Edit.Old, s.Edit.New, s.Edit.Path))
	case s.Write != nil && has("apply_patch"):
		return patch(r, fmt.Sprintf("*** Add File: %s\n%s", s.Write.Path, marked("+", s.Write.Text)))
	case s.Write != nil && (has("Write") || has("write") || has("write_file")):
		return s.call(r, []string{"Write", "write", "write_file"}, map[string]any{"file_path": s.Write.Path, "filePath": s.Write.Path, "content": s.Write.Text})
	case s.Write != nil:
		return shell(r, fmt.Sprintf("cat > %s <<'EOF'\n%sEOF", s.Write.Path, s.Write.Text))
	case s.Tool != nil && has("ToolSearch") && !slices.Contains(r.Calls, "ToolSearch"):
		return Calling("ToolSearch", map[string]any{"query": s.Tool.Name, "max_results": 5})
	case s.Tool != nil:
		for _, name := range r.Tools {
			if strings.HasSuffix(name, s.Tool.Name) {
				return Turn{Text: "Next.", Calls: []Call{{name, s.Tool.Args}}}
			}
		}
		return Turn{Text: "there is no tool " + s.Tool.Name + " among " + strings.Join(r.Tools, ", ")}
	case s.Run != "":
		return shell(r, s.Run)
	case s.State != nil:
		return s.state(r)
	}
	return Turn{Text: s.Say}
}

// camel are the tools whose arguments are written so. Others' are with underscores.
var camel = []string{"read", "edit", "write"}

// call returns the call of the first of the tools that there is, with the arguments that are
// spelt as it spells them.
func (s Step) call(r Request, tools []string, args map[string]any) Turn {
	for _, name := range tools {
		if !slices.Contains(r.Tools, name) {
			continue
		}
		own := map[string]any{}
		for key, value := range args {
			if key == "content" || (key == "instruction") == (name == "replace") && key == "instruction" ||
				key != "instruction" && strings.Contains(key, "_") != slices.Contains(camel, name) {
				own[key] = value
			}
		}
		return Calling(name, own)
	}
	return Turn{Text: "there is no such tool"}
}

// shell returns the call that runs a command.
func shell(r Request, command string) Turn {
	for _, t := range []struct {
		name string
		args map[string]any
	}{
		{"Bash", map[string]any{"command": command, "description": "Run a command"}},
		{"bash", map[string]any{"command": command, "description": "Run a command"}},
		{"run_shell_command", map[string]any{"command": command, "description": "Run a command"}},
		{"exec_command", map[string]any{"cmd": command}},
		{"shell_command", map[string]any{"command": command}},
		{"developer__shell", map[string]any{"command": command}},
		{"shell", map[string]any{"command": []string{"bash", "-lc", command}}},
	} {
		if slices.Contains(r.Tools, t.name) {
			return Calling(t.name, t.args)
		}
	}
	return Turn{Text: "there is no shell"}
}

// patch returns the call that applies a patch. Where the tool takes a text, the patch is that.
func patch(r Request, body string) Turn {
	text := "*** Begin Patch\n" + body + "*** End Patch\n"
	if r.custom["apply_patch"] {
		return Turn{Text: "Next.", Calls: []Call{{"apply_patch", text}}}
	}
	return Calling("apply_patch", map[string]any{"input": text, "patchText": text})
}

// marked returns a text with a mark before each line.
func marked(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(mark + line)
	}
	return b.String()
}

// structured is the tool that Claude Code offers for a result.
const structured = "StructuredOutput"

// state returns the answer that states the result: by the tool for it, once, or at the end
// of the words.
func (s Step) state(r Request) Turn {
	text, err := json.Marshal(s.State)
	if err != nil {
		panic(err) // a test's own words
	}
	switch {
	case slices.Contains(r.Calls, structured):
		return Turn{Text: "Done."}
	case slices.Contains(r.Tools, structured):
		return Calling(structured, s.State)
	}
	return Turn{Text: "Done.\n\n" + string(text)}
}
