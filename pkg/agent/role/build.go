package role

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
)

// Tools configures brains that run programs.
type Tools struct {
	Env     []string      // names of more variables they may see
	Wall    time.Duration // how long they may take; 0: exec's default
	Idle    time.Duration // how long they may print nothing; 0: exec's default
	Sandbox sandbox.Sandbox
	Line    func(a brain.Assignment, line string) // called with each line they print; may be nil

	Egress   []string                      // hosts they can reach from a sandbox, in addition to the API of their model
	Readable []string                      // paths they may read from a sandbox
	Limits   sandbox.Limits                // of resources
	Cache    func(brain.Assignment) string // see exec.Config; may be nil

	Models    Models           // of brains that are models
	Endpoints *model.Endpoints // nil: each brain has its own

	PresetsDir string // of the operator's presets; empty: none
	presets    exec.Presets

	ServersFile string // the operator's MCP servers; empty: none
	servers     mcp.Servers
	// Issued gets the tokens by which programs reach them; see exec.Config. It may be nil.
	Issued func(token string)

	promptsDir string     // of the operator's templates; empty: none
	prompts    prompt.Set // read from it

	patience time.Duration // of models with their provider; 0: the default

	Document  Document // nil: none of the role's lifecycles has one
	StateFile string   // its name in the work tree; empty: exec's default
}

// Build makes the brains of one role from the specs that name it.
func (s Specs) Build(role string, t Tools) (Brains, error) {
	b := Brains{Role: role, Default: named("rules", byRule(role, t.Document)), State: map[string]brain.Brain{}, specs: map[string]string{}}
	if err := t.Models.read(); err != nil {
		return b, err
	}
	var err error
	if t.prompts, err = prompt.Read(t.promptsDir); err != nil {
		return b, err
	}
	if t.presets, err = exec.ReadPresets(t.PresetsDir); err != nil {
		return b, err
	}
	if t.servers, err = mcp.Read(t.ServersFile); err == nil && slices.Contains(s.Roles(), role) {
		t.servers, err = t.servers.For(role).Ready()
	}
	if err != nil {
		return b, fmt.Errorf("--mcp-servers: %w", err)
	}
	b.servers = t.servers
	given := 0
	for who, spec := range s {
		name, state, _ := strings.Cut(who, ".")
		if name != role {
			continue
		}
		made, err := several(role, state, spec, t)
		if err != nil {
			return b, fmt.Errorf("--brain %s=%s: %w", who, spec, err)
		}
		given++
		b.specs[state] = strings.TrimSpace(spec)
		if state == "" {
			b.Default = made
		} else {
			b.State[state] = made
		}
	}
	if b.Default == nil && given == 0 {
		_, err := b.For("any state", workflow.WorkSpec{})
		return b, err
	}
	return b, nil
}

// next is where the next brain of a list begins.
var next = lazyregexp.New(`,\s*(?:exec:|model:|rules\s*$)`)

// hasty is how long a model that is not the last of a list waits for its provider.
const hasty = 30 * time.Second

// several makes a brain from a spec, or from several between commas: the next one goes on
// where one cannot work.
func several(role, state, spec string, t Tools) (brain.Brain, error) {
	var specs []string
	from := 0
	for _, at := range next.FindAllStringIndex(spec, -1) {
		specs = append(specs, strings.TrimSpace(spec[from:at[0]]))
		from = at[0] + 1
	}
	specs = append(specs, strings.TrimSpace(spec[from:]))
	var chain brain.Chain
	for i, s := range specs {
		t.patience = 0
		if i < len(specs)-1 {
			t.patience = hasty
		}
		b, err := one(role, state, s, t)
		b = named(s, b)
		if err != nil || len(specs) == 1 {
			return b, err
		}
		chain = append(chain, brain.Link{Brain: b, Name: s})
	}
	return chain, nil
}

// named returns the brain with the name that its costs are summed by. That is the first
// word of its spec, or the last part of a program's path. Arguments may be secret.
func named(spec string, b brain.Brain) brain.Brain {
	if b == nil {
		return nil
	}
	name, rest, _ := strings.Cut(spec, ":")
	if words := strings.Fields(rest); len(words) > 0 && name == "exec" {
		name += ":" + filepath.Base(words[0])
	} else if len(words) > 0 {
		name += ":" + words[0]
	}
	return brain.Named{Brain: b, Name: name}
}

// one makes a brain from "rules", "exec:COMMAND" or "model:PROVIDER/NAME". In one state of its own, any
// role may work by the rule that what the runtime checks has to pass.
func one(role, state, spec string, t Tools) (brain.Brain, error) {
	switch kind, rest, _ := strings.Cut(spec, ":"); kind {
	case "exec":
		command, readable, err := here(rest)
		if err != nil {
			return nil, err
		}
		program, err := t.presets.Parse(command)
		if err != nil {
			return nil, err
		}
		if err := runnable(strings.TrimSpace(rest), program, t.presets.Names()); err != nil {
			return nil, err
		}
		if err := t.servable(program); err != nil {
			return nil, err
		}
		return exec.New(exec.Config{
			Servers: t.servers, Issued: t.Issued,
			Program: program, Env: t.Env, Wall: t.Wall, Idle: t.Idle, Sandbox: t.Sandbox, Egress: t.Egress, Line: t.Line, Limits: t.Limits,
			Readable: slices.Concat(readable, t.Readable), Cache: t.Cache,
			Documents: t.Document, StateFile: t.StateFile, Prompts: t.prompts,
		})
	case "model":
		cfg, err := model.Parse(rest)
		if err != nil {
			return nil, err
		}
		t.Models.fill(&cfg)
		cfg.Wall, cfg.Idle, cfg.Sandbox, cfg.Limits, cfg.Cache, cfg.Endpoints = t.Wall, t.Idle, t.Sandbox, t.Limits, t.Cache, t.Endpoints
		cfg.Patience, cfg.Prompts, cfg.Servers = t.patience, t.prompts, t.servers
		return model.New(cfg)
	case "rules":
		if b := byRule(role, t.Document); b != nil {
			return b, nil
		}
		if state != "" {
			return rules.Checker{}, nil
		}
		return nil, fmt.Errorf("there are no rules to work as %s by; want exec:COMMAND", role)
	}
	return nil, fmt.Errorf("want exec:COMMAND, exec:PRESET, model:PROVIDER/NAME or rules")
}

// servable refuses a coding agent that cannot get the servers of its role.
func (t Tools) servable(p exec.Program) error {
	if p.CanBeGivenServers() || len(t.servers) == 0 {
		return nil
	}
	var names []string
	for _, one := range t.servers {
		names = append(names, one.Name)
	}
	return fmt.Errorf("%s cannot be given MCP servers, and its role has %s: name other roles for them, or another brain, or say in mcp of a preset of your own how",
		p.Name, strings.Join(names, ", "))
}

// here makes the files that a command names by ./ or ../ those of this process's directory:
// the program will run in another. It lists all files that the command names: a sandbox
// must let the program read them. It does not show other files of their directories. A directory that
// holds a home or credentials is an error.
func here(command string) (string, []string, error) {
	var readable []string
	words := strings.Split(command, " ")
	for i, word := range words {
		if !strings.HasPrefix(word, "./") && !strings.HasPrefix(word, "../") && !filepath.IsAbs(word) {
			continue
		}
		path, err := filepath.Abs(word)
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if info.IsDir() && sandbox.Forbidden(path) {
			return "", nil, fmt.Errorf("%s holds a home or credentials, which no sandbox shows: name a file, or a directory below it", path)
		}
		words[i] = path
		readable = append(readable, path)
	}
	return strings.Join(words, " "), readable, nil
}

// byRule is what a role thinks with when it is given nothing; nil: it must be.
func byRule(role string, d Document) brain.Brain {
	if d != nil {
		if b := d.Brain(role); b != nil {
			return b
		}
	}
	return map[string]brain.Brain{
		"analyst": rules.Analyst{}, "tester": rules.Tester{}, "navigator": rules.Navigator{}, "build": rules.Checker{},
		"solution-validator": rules.Validator{}, "quality-monitor": rules.Quality{}, "cto": rules.CTO{},
	}[role]
}

// Of returns the settings of one role: its own brains, hosts and variables. ErrNoBrain says
// that it needs a brain.
func (s Settings) Of(role string) (Settings, error) {
	s = s.scope(role)
	specs, err := ParseSpecs(s.Brain, "")
	if err != nil {
		return s, err
	}
	s.Brain = nil
	for who, spec := range specs {
		if name, _, _ := strings.Cut(who, "."); name == role {
			s.Brain = append(s.Brain, who+"="+spec)
		}
	}
	slices.Sort(s.Brain)
	if len(s.Brain) == 0 && byRule(role, s.Document) == nil {
		return s, fmt.Errorf("%w for %s: give one with --brain %s=exec:COMMAND", ErrNoBrain, role, role)
	}
	return s, nil
}

// Thinks returns the brains of a role that does no work on code, such as the PM: those
// that it was given. Without any, For of what is returned fails with ErrNoBrain.
func (s Settings) Thinks(ctx context.Context, role string) (Brains, error) {
	if len(s.Brain) == 0 {
		return Brains{Role: role}, nil
	}
	specs, err := ParseSpecs(s.Brain, role)
	if err == nil {
		err = specs.Check([]string{role})
	}
	if err == nil {
		err = s.checkScopes([]string{role})
	}
	var box sandbox.Sandbox
	if err == nil {
		box, err = s.box(ctx)
	}
	if err != nil {
		return Brains{}, service.Usagef("%w", err)
	}
	tools := s.scope(role).tools(box)
	tools.Cache = Caches{filepath.Join(s.WorkDir, role, "caches")}.brain
	brains, err := specs.Build(role, tools)
	if err != nil {
		return Brains{}, service.Usagef("%w", err)
	}
	return brains, nil
}
