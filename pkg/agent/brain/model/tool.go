package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
)

type fields = map[string]any

func text(about string) fields { return fields{"type": "string", "description": about} }

func integer(about string) fields {
	return fields{"type": "integer", "minimum": 1, "description": about}
}

// kit returns the tools of the step: those of code only if there is some.
func (s *step) kit() []tool {
	var kit []tool
	if s.root != nil {
		kit = []tool{
			{"read", "Reads a file, or a part of it.", fields{
				"path": text("below the work tree"), "from": integer("the first line; absent: 1"), "lines": integer("how many; absent: 500"),
			}, []string{"path"}, nil},
			{"list", "Lists files and directories, those of directories indented.", fields{
				"path": text("a directory; absent: the work tree"), "depth": integer("of directories; absent: 2"),
			}, nil, nil},
			{"grep", "Finds lines by a regular expression (RE2), as path:line: text.", fields{
				"pattern": text("the expression"), "path": text("a file or directory; absent: the work tree"),
				"name": text("of files, with wildcards, such as *.go; absent: all"),
			}, []string{"pattern"}, nil},
			{"edit", "Replaces a text in a file, which must be there exactly once, blanks and ends of lines included.", fields{
				"path": text("below the work tree"), "old": text("the text, with enough around it to be there once"),
				"new": text("the text that replaces it"),
				"all": fields{"type": "boolean", "description": "replace it wherever it is"},
			}, []string{"path", "old", "new"}, nil},
			{"write", "Writes a whole file, new or not, and the directories it is in.", fields{
				"path": text("below the work tree"), "content": text("all of it"),
			}, []string{"path", "content"}, nil},
			{"run", "Runs a shell command in the work tree, in a sandbox without a network. You get its exit code and what it prints.", fields{
				"command": text("for sh -c"),
				"seconds": integer(fmt.Sprintf("how long it may take; at most and if absent %d", int(s.cfg.Command.Seconds()))),
			}, []string{"command"}, nil},
		}
	}
	return slices.Concat(kit, s.foreign(), s.ends())
}

// do calls a tool. Its error is the model's to read, unless it wraps
// brain.ErrInfrastructure.
func (s *step) do(ctx context.Context, c call) (string, error) {
	i := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == c.name })
	if i < 0 {
		var names []string
		for _, t := range s.tools {
			names = append(names, t.name)
		}
		return "", fmt.Errorf("there is no tool %s; there are %s", shortened(c.name, 50), strings.Join(names, ", "))
	}
	if strings.HasPrefix(c.name, mcp.Prefix) {
		return s.servers.Call(ctx, c.name, c.args)
	}
	switch c.name {
	case "read":
		return with(c, s.read)
	case "list":
		return with(c, s.list)
	case "grep":
		return with(c, func(a grepArgs) (string, error) { return s.grep(ctx, a) })
	case "edit":
		return with(c, s.edit)
	case "write":
		return with(c, s.write)
	case "run":
		return with(c, func(a runArgs) (string, error) { return s.command(ctx, a) })
	case "ask":
		return with(c, func(a askArgs) (string, error) { return s.question(ctx, a) })
	}
	return s.finish(ctx, c.args, s.tools[i])
}

// with decodes the arguments of a call. Those that the tool does not have are refused.
func with[A any](c call, do func(A) (string, error)) (string, error) {
	var args A
	raw := c.args
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&args); err != nil {
		return "", fmt.Errorf("the arguments are not as %s wants them: %w", c.name, err)
	}
	return do(args)
}

// aim is what a call is about, for people.
func (s *step) aim(c call) string {
	var args struct {
		Path, Pattern, Command, Question, Summary string
	}
	if json.Unmarshal(c.args, &args) != nil {
		return ""
	}
	return shortened(strings.Join([]string{args.Pattern, args.Path, args.Command, args.Question, args.Summary}, " "), 100)
}

// errNoText marks a file that is none for a model.
var errNoText = errors.New("it is no text")
