package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/shell"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// Program is a command to run.
type Program struct {
	Name string   // for messages
	Argv []string // a preset's may hold {{…}}, see expand

	preset
}

// preset describes a coding agent.
type preset struct {
	argv  []string
	env   []string              // variables it needs
	set   []string              // variables it is given, name=value
	login []string              // files below HOME with its login and settings; it gets a copy
	hosts []string              // its model's API
	bases []string              // variables that name another API
	drop  string                // pattern of its own files in the work tree
	read  func(*answer, []byte) // reads a line of its standard output; nil: not a coding agent

	exits           map[int]string // exit codes by which it did nothing, and what people have to do
	exitsWithStatus bool           // its exit code is the low byte of a status of HTTP
}

// Parse reads a program from a configuration:
//
//	claude, codex --model M   a preset, with more of its own flags, quoted as for a shell
//	./agent.sh --fast         a shell command
//	["agent", "--fast"]       arguments, without a shell
//
// A relative path is resolved from the current directory, never from the work
// tree.
func Parse(spec string) (Program, error) {
	spec = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(spec), "exec:"))
	if spec == "" {
		return Program{}, fmt.Errorf("exec: no program given: want a command, a JSON list of arguments, or one of %s",
			strings.Join(Presets(), ", "))
	}
	if spec[0] == '[' {
		p := Program{}
		if err := json.Unmarshal([]byte(spec), &p.Argv); err != nil || len(p.Argv) == 0 || p.Argv[0] == "" {
			return Program{}, fmt.Errorf("exec: %s: want a JSON list of a program and its arguments", spec)
		}
		p.Name, p.Argv[0] = filepath.Base(p.Argv[0]), ours(p.Argv[0])
		return p, nil
	}
	words := strings.Fields(spec)
	if p, ok := presets()[words[0]]; ok {
		flags, err := shell.Fields(strings.TrimPrefix(spec, words[0]), nil)
		if err != nil {
			return Program{}, fmt.Errorf("exec: %s: %w", spec, err)
		}
		return Program{Name: words[0], Argv: slices.Concat(p.argv, flags), preset: p}, nil
	}
	if path := ours(words[0]); path != words[0] {
		spec = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" + strings.TrimPrefix(spec, words[0])
	}
	return Program{Name: filepath.Base(words[0]), Argv: []string{"sh", "-c", spec}}, nil
}

// ours returns the absolute path of a program given by a relative one.
func ours(program string) string {
	if !strings.Contains(program, "/") || filepath.IsAbs(program) {
		return program
	}
	path, err := osexec.LookPath(program)
	if err != nil {
		return program
	}
	if path, err = filepath.Abs(path); err != nil {
		return program
	}
	return path
}

// expand fills a preset's template: the prompt's file, the directory of the files,
// the result's schema and the sandbox mode of codex. Codex cannot confine itself
// inside a sandbox.
func (p Program) expand(f files, mode sandbox.Mode) []string {
	if p.read == nil {
		return p.Argv
	}
	codex := "workspace-write"
	if mode != sandbox.None {
		codex = "danger-full-access"
	}
	r := strings.NewReplacer("{{prompt}}", f.prompt, "{{dir}}", f.dir, "{{schema}}", inline(brain.ResultSchema()), "{{codex-sandbox}}", codex)
	argv := make([]string, len(p.Argv))
	for i, arg := range p.Argv {
		argv[i] = r.Replace(arg)
	}
	return argv
}

// inline returns a schema on one line, without its $schema, which not every
// validator knows.
func inline(schema []byte) string {
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return string(schema)
	}
	delete(s, "$schema")
	text, err := json.Marshal(s)
	if err != nil {
		return string(schema)
	}
	return string(text)
}

// reachable returns the hosts of the program's model: its own API, or the one that
// a variable of this process names.
func (p Program) reachable() []string {
	hosts := slices.Clone(p.hosts)
	for _, name := range p.bases {
		base, err := url.Parse(os.Getenv(name))
		if err != nil || base.Hostname() == "" {
			continue
		}
		port := base.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
		}
		hosts = append(hosts, net.JoinHostPort(base.Hostname(), port))
	}
	return hosts
}

// litter records the files that match the pattern drop, and returns a function that
// removes the newer ones. The tree is held open, since the program may replace it
// by a link.
func (p Program) litter(dir string) (func(), error) {
	if p.drop == "" {
		return func() {}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	before, err := fs.Glob(root.FS(), p.drop)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return func() {
		defer root.Close()
		after, _ := fs.Glob(root.FS(), p.drop)
		for _, name := range after {
			if !slices.Contains(before, name) {
				_ = root.RemoveAll(name) // left over, it shows in the diff
			}
		}
	}, nil
}
