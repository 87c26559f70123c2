package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type configGroup struct {
	Check configCheck `cmd:"" help:"Say whether a file is right as .signalbox/config.yaml of a repository, with the line of each thing that is not."`
}

// configCheck is `signalbox config check`.
type configCheck struct {
	File        string   `arg:"" type:"path" help:"The file, or the directory of the repository."`
	WorkflowDir string   `name:"workflow-dir" type:"existingdir" placeholder:"DIR" help:"Directory of lifecycles of your own."`
	Workflow    string   `name:"workflow" placeholder:"NAME" help:"Lifecycle that new issues open with where the repository chooses none. With it, one that --repo-workflow does not permit is wrong."`
	Lifecycles  []string `name:"repo-workflow" placeholder:"NAME" help:"Lifecycle that the file may choose in addition to --workflow; * permits all. May be repeated."`
}

// checkedConfig is the JSON of `config check`.
type checkedConfig struct {
	File     string   `json:"file"`
	Hash     string   `json:"hash"` // SHA-256 of the file; empty if it is wrong
	Problems []string `json:"problems"`
}

// Run prints what is wrong with the file. It fails if something is.
func (c configCheck) Run(_ context.Context, env *term.Env) error {
	if err := c.find(); err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return service.Usagef("%w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, repoconfig.MaxBytes+1))
	if err != nil {
		return err
	}
	defs, err := allinone.Definitions(c.WorkflowDir)
	if err != nil {
		return err
	}
	operator := repoconfig.Operator{Definitions: defs}
	if c.Workflow != "" || len(c.Lifecycles) > 0 {
		operator.Lifecycles = append(c.Lifecycles, c.Workflow)
	}
	config, err := repoconfig.Read(c.File, src, operator)
	found := checkedConfig{File: c.File, Hash: config.Hash, Problems: []string{}}
	if err != nil {
		found.Hash = ""
		for _, p := range workflow.Problems(err) {
			found.Problems = append(found.Problems, p.Error())
		}
	}
	if env.JSON {
		if err := env.Print(found); err != nil {
			return err
		}
	} else if err == nil {
		env.Printf("%s is right: %s\n", term.Line(c.File), found.Hash)
	} else {
		env.Printf("%s\n", term.Text(strings.Join(found.Problems, "\n")))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, errWrongConfig)
	}
	return nil
}

// find replaces a directory by the file of configuration in it.
func (c *configCheck) find() error {
	info, err := os.Stat(c.File)
	if err != nil {
		return service.Usagef("%w", err)
	}
	if !info.IsDir() {
		return nil
	}
	for _, dir := range []string{filepath.Join(c.File, repoconfig.Dir), c.File} {
		for _, name := range repoconfig.Files() {
			if in, err := os.Stat(filepath.Join(dir, name)); err == nil && in.Mode().IsRegular() {
				c.File = filepath.Join(dir, name)
				return nil
			}
		}
	}
	return service.Usagef("%s is a directory without %s/%s: name the file", c.File, repoconfig.Dir, repoconfig.Files()[0])
}

var errWrongConfig = errors.New("it is wrong, and would not be in force")
