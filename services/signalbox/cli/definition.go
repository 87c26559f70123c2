package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// definitionCommand has the commands about definitions. Only migrate needs a running system.
type definitionCommand struct {
	Ls     definitionLs     `cmd:"" help:"List the lifecycles there are."`
	Show   definitionShow   `cmd:"" help:"Print one as YAML, complete without what it extends."`
	Export definitionExport `cmd:"" help:"Print its states and moves as JSON."`
	Verify definitionVerify `cmd:"" help:"Prove that every run can go on and must end; names FILE:LINE of what is wrong."`
	Graph  definitionGraph  `cmd:"" help:"Draw it."`
	Diff   definitionDiff   `cmd:"" help:"Compare two; ends with 1 if they differ."`

	Migrate definitionMigrate `cmd:"" help:"Have one instance go on under another definition of its lifecycle, if that has the state it is in."`
}

// sources has the flags for the places of definitions, in addition to the built-in ones.
type sources struct {
	WorkflowDir string `name:"workflow-dir" type:"existingdir" placeholder:"DIR" help:"Directory of lifecycles of your own, in addition to the built-in ones."`
}

// all returns the built-in definitions and those of the directory, which win.
func (s sources) all() (*workflow.Catalog, error) {
	defs, err := workflow.Builtins()
	if err != nil {
		return nil, err
	}
	if s.WorkflowDir != "" {
		own, err := workflow.LoadDir(os.DirFS(s.WorkflowDir))
		if err != nil {
			return nil, err
		}
		defs = append(defs, own...)
	}
	return workflow.NewCatalog(defs...), nil
}

// load returns a definition by the path of its file or by its name.
func (s sources) load(target string) (*workflow.Definition, error) {
	if !isFile(target) {
		catalog, err := s.all()
		if err != nil {
			return nil, err
		}
		d, err := catalog.Named(target)
		if err != nil {
			return nil, service.Usagef("%w; a file is named with its suffix, as in ./mine.yaml", err)
		}
		return d, nil
	}
	src, err := os.ReadFile(target)
	if err != nil {
		return nil, service.Usagef("%w", err)
	}
	var bases []*workflow.Definition
	if s.WorkflowDir != "" {
		catalog, err := s.all()
		if err != nil {
			return nil, err
		}
		bases = catalog.All()
	}
	return workflow.Load(target, src, bases...)
}

// isFile reports whether target is a path. A name has no dots and no slashes.
func isFile(target string) bool {
	return strings.ContainsAny(target, "./") || strings.ContainsRune(target, filepath.Separator)
}

// definitionArg has the flags of a command about one definition.
type definitionArg struct {
	sources
	Target string `arg:"" name:"name-or-file" help:"Name of a lifecycle, or path of its YAML file."`
}

// current has the flags of the commands that may ask a running system instead.
type current struct {
	running
	Running bool `name:"running" env:"-" help:"Show the definitions of the running system for new instances, in place of the files here."`
}

type definitionLs struct {
	sources
	current
}

// Run lists definitions.
func (c definitionLs) Run(ctx context.Context, env *term.Env) error {
	if c.Running {
		return c.call(ctx, env, func(ctx context.Context, s system) error {
			all, err := s.Definitions(ctx)
			if err != nil {
				return err
			}
			return view.Definitions(env, all)
		})
	}
	catalog, err := c.all()
	if err != nil {
		return err
	}
	return view.Definitions(env, catalog.All())
}

type definitionShow struct {
	definitionArg
	current
}

// Run prints a definition as YAML, or with --json as export does.
func (c definitionShow) Run(ctx context.Context, env *term.Env) error {
	if c.Running {
		return c.call(ctx, env, func(ctx context.Context, s system) error {
			reply, err := s.Definition(ctx, c.Target)
			if err != nil {
				return err
			}
			d, err := workflow.Load(c.Target, reply.GetSource())
			if err != nil {
				return fmt.Errorf("the definition of %s: %w", c.Target, err)
			}
			return c.print(env, d)
		})
	}
	d, err := c.load(c.Target)
	if err != nil {
		return err
	}
	return c.print(env, d)
}

func (c definitionShow) print(env *term.Env, d *workflow.Definition) error {
	if env.JSON {
		return env.Print(view.Export(d))
	}
	_, err := env.Stdout.Write(d.Source())
	return err
}

type definitionExport struct{ definitionArg }

// Run prints the states and transitions of a definition as JSON.
func (c definitionExport) Run(env *term.Env) error {
	d, err := c.load(c.Target)
	if err != nil {
		return err
	}
	return env.Print(view.Export(d))
}

type definitionGraph struct {
	definitionArg
	Format string `name:"format" env:"-" enum:"mermaid,svg" default:"mermaid" help:"${enum}."`
}

// Run draws a definition.
func (c definitionGraph) Run(env *term.Env) error {
	d, err := c.load(c.Target)
	if err != nil {
		return err
	}
	drawing := []byte(workflow.Mermaid(d))
	if c.Format == "svg" {
		drawing = workflow.SVG(d)
	}
	if env.JSON {
		return env.Print(map[string]string{"workflow": d.Name, "format": c.Format, "graph": string(drawing)})
	}
	_, err = env.Stdout.Write(drawing)
	return err
}

type definitionDiff struct {
	sources
	Lines bool   `name:"lines" env:"-" help:"Compare their YAML line by line instead."`
	A     string `arg:"" help:"Name or file of the one."`
	B     string `arg:"" help:"Name or file of the other."`
}

// Run compares the meaning of two definitions, or with --lines their text.
func (c definitionDiff) Run(env *term.Env) error {
	a, aerr := c.load(c.A)
	b, berr := c.load(c.B)
	if err := errors.Join(aerr, berr); err != nil {
		return err
	}
	changes := workflow.Diff(a, b)
	_, text, _ := strings.Cut(string(diff.Diff(c.A, a.Source(), c.B, b.Source())), "\n") // without the line that repeats the command
	switch {
	case env.JSON:
		v := struct {
			A       string            `json:"a"`
			B       string            `json:"b"`
			Equal   bool              `json:"equal"`
			Changes []workflow.Change `json:"changes"`
			Diff    string            `json:"diff"` // of their YAML
		}{c.A, c.B, len(changes) == 0, append([]workflow.Change{}, changes...), text}
		if err := env.Print(v); err != nil {
			return err
		}
	case c.Lines:
		for line := range strings.Lines(text) {
			env.Printf("%s\n", env.Paint(diffStyle(line), strings.TrimSuffix(line, "\n")))
		}
	default:
		for _, change := range changes {
			line := change.String()
			env.Printf("%s\n", env.Paint(diffStyle(line), line))
		}
	}
	if len(changes) > 0 {
		return fmt.Errorf("%s and %s differ", c.A, c.B)
	}
	return nil
}

func diffStyle(line string) term.Style {
	switch {
	case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		return term.Bold
	case strings.HasPrefix(line, "+"):
		return term.Good
	case strings.HasPrefix(line, "-"):
		return term.Bad
	case strings.HasPrefix(line, "@"):
		return term.Faint
	}
	return term.Plain
}
