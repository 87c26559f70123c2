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

// Parse reads a program from a configuration:
//
//	claude, codex --model M   a preset, with more of its own flags, quoted as for a shell
//	./agent.sh --fast         a shell command
//	["agent", "--fast"]       arguments, without a shell
//
// A relative path is resolved from the current directory, never from the work
// tree.
func (ps Presets) Parse(spec string) (Program, error) {
	spec = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(spec), "exec:"))
	if spec == "" {
		return Program{}, fmt.Errorf("exec: no program given: want a command, a JSON list of arguments, or one of %s",
			strings.Join(ps.Names(), ", "))
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
	if p, ok := ps.known()[words[0]]; ok {
		flags, err := shell.Fields(strings.TrimPrefix(spec, words[0]), nil)
		if err != nil {
			return Program{}, fmt.Errorf("exec: %s: %w", spec, err)
		}
		return Program{Name: words[0], Argv: slices.Concat(p.Command, flags), preset: p}, nil
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

// placeholders are what expand replaces.
func placeholders() []string { return []string{"{{prompt}}", "{{dir}}", "{{schema}}", "{{result}}"} }

// expand fills a preset's template: the prompt's file, the directory of the files, the
// result's schema and file. It adds what the preset has for the mode of the sandbox.
func (p Program) expand(f files, mode sandbox.Mode) []string {
	if p.read == nil {
		return p.Argv
	}
	more := p.Confined
	if mode == sandbox.None {
		more = p.Unconfined
	}
	r := strings.NewReplacer("{{prompt}}", f.prompt, "{{dir}}", f.dir, "{{schema}}", inline(brain.ResultSchema()), "{{result}}", f.result)
	argv := slices.Concat(p.Argv, more)
	for i, arg := range argv {
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
	hosts, bases := p.apis()
	for _, name := range bases {
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

// litter records the files that match the pattern Drop, and returns a function that
// removes the newer ones. The tree is held open, since the program may replace it
// by a link.
func (p Program) litter(dir string) (func(), error) {
	if p.Drop == "" {
		return func() {}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	before, err := fs.Glob(root.FS(), p.Drop)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return func() {
		defer root.Close()
		after, _ := fs.Glob(root.FS(), p.Drop)
		for _, name := range after {
			if !slices.Contains(before, name) {
				_ = root.RemoveAll(name) // left over, it shows in the diff
			}
		}
	}, nil
}
