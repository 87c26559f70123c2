package cli

import (
	"cmp"
	"fmt"
	osexec "os/exec"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// brainCommand has the commands about presets of coding agents. None needs a running system.
type brainCommand struct {
	Ls   brainLs   `cmd:"" help:"List the presets, with their programs, whether each is installed, and the version that was tried."`
	Show brainShow `cmd:"" help:"Print the file of a preset, to begin one of your own with."`
}

type presetSource struct {
	Presets string `name:"presets" type:"path" placeholder:"DIR" help:"Directory of presets for coding agents, NAME.yaml. They win over built-in presets of the same name."`
}

func (c presetSource) read() (exec.Presets, error) {
	presets, err := exec.ReadPresets(c.Presets)
	if err != nil {
		return presets, service.Usagef("%w", err)
	}
	return presets, nil
}

type brainLs struct{ presetSource }

// presetRow is a line of `brain ls`.
type presetRow struct {
	exec.Preset
	Path string `json:"path"` // of its program; empty: it is not in PATH
}

// Run lists the presets.
func (c brainLs) Run(env *term.Env) error {
	presets, err := c.read()
	if err != nil {
		return err
	}
	table := env.Table("NAME", "PROGRAM", "TRIED", "FROM", "ABOUT")
	for _, name := range presets.Names() {
		p, _ := presets.Find(name)
		p.Source = ""
		row := presetRow{Preset: p}
		row.Path, _ = osexec.LookPath(p.Program) // most are not installed
		if env.JSON {
			if err := env.Print(row); err != nil {
				return err
			}
			continue
		}
		table.Row(name, term.Line(cmp.Or(row.Path, p.Program+" (not in PATH)")), term.Line(cmp.Or(p.Known, "-")), term.Line(cmp.Or(p.From, "shipped")),
			term.Line(p.About))
	}
	if env.JSON {
		return nil
	}
	return table.Print()
}

type brainShow struct {
	presetSource
	Name string `arg:"" name:"preset" help:"Its name, such as claude."`
}

// Run prints a preset's file.
func (c brainShow) Run(env *term.Env) error {
	presets, err := c.read()
	if err != nil {
		return err
	}
	p, ok := presets.Find(c.Name)
	if !ok {
		hint := "; want one of " + strings.Join(presets.Names(), ", ")
		if meant := workflow.Nearest(c.Name, presets.Names()); meant != "" {
			hint = "; did you mean " + meant + "?"
		}
		return service.Usagef("there is no preset %s%s", c.Name, hint)
	}
	if env.JSON {
		return env.Print(p)
	}
	fmt.Fprintf(env.Stderr, "%s\n", term.Line(cmp.Or(p.From, "shipped")))
	env.Printf("%s", sanitize.Terminal(p.Source))
	return nil
}
