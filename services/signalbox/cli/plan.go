package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/document/plan"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// planCommands has the commands about plans of tasks.
type planCommands struct {
	Import planImport `cmd:"" help:"Open a task for each of a plan file's, in their order; existing tasks stay as they are."`
}

type planImport struct {
	running
	File   string `arg:"" name:"file" help:"The plan, in Markdown or YAML."`
	Repo   string `name:"repo" env:"-" placeholder:"OWNER/NAME" help:"Repository on the forge that the tasks are about."`
	Prefix string `name:"prefix" env:"-" placeholder:"P" help:"The tasks are named P/ID; by default after the file."`
	DryRun bool   `name:"dry-run" env:"-" help:"Say what would be opened, and open nothing."`
}

// importedTask is the JSON of one task of a plan.
type importedTask struct {
	Instance string   `json:"instance"`
	Title    string   `json:"title"`
	Priority int      `json:"priority"`
	After    []string `json:"after"`
	Opened   bool     `json:"opened"`          // by this call
	State    string   `json:"state,omitempty"` // empty: there is no instance
}

// Run opens an instance for each task of a plan.
func (c planImport) Run(ctx context.Context, env *term.Env) error {
	p, err := c.read()
	if err != nil {
		return service.Usagef("%w", err)
	}
	if c.DryRun {
		wouldBeConfigured(env, c.Repo)
		for _, t := range p.Tasks {
			if err := c.print(env, c.toImport(t), "would be opened"); err != nil {
				return err
			}
		}
		return nil
	}
	if c.Repo == "" {
		fmt.Fprintln(env.Stderr, "without --repo OWNER/NAME the tasks have no code to work on")
	}
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		config, err := s.configuredBy(ctx, env, c.Repo)
		if err != nil {
			return err
		}
		for _, t := range p.Tasks {
			if err := c.open(ctx, env, s, t, p.Title, config); err != nil {
				return err
			}
		}
		return nil
	})
}

// read parses the plan and checks that its tasks can be names of instances.
func (c *planImport) read() (plan.Plan, error) {
	if parts := strings.Split(c.Repo, "/"); c.Repo != "" && (len(parts) != 2 || parts[0] == "" || parts[1] == "") {
		return plan.Plan{}, fmt.Errorf("--repo %s: want OWNER/NAME", c.Repo)
	}
	if info, err := os.Stat(c.File); err == nil && info.Size() > plan.MaxSize {
		return plan.Plan{}, fmt.Errorf("%s has %d bytes, want at most %d", c.File, info.Size(), plan.MaxSize)
	}
	src, err := os.ReadFile(c.File)
	if err != nil {
		return plan.Plan{}, err
	}
	if c.Prefix == "" {
		c.Prefix = strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	}
	p, err := plan.Parse(c.File, src)
	for _, t := range p.Tasks {
		if err := subject.CheckInstance(c.name(t.ID)); err != nil {
			return p, fmt.Errorf("%s:%d: %w", c.File, t.Line, err)
		}
	}
	return p, err
}

func (c planImport) name(id string) string { return c.Prefix + "/" + id }

func (c planImport) toImport(t plan.Task) importedTask {
	out := importedTask{Instance: c.name(t.ID), Title: t.Title, Priority: t.Priority, After: []string{}}
	for _, id := range t.After {
		out.After = append(out.After, c.name(id))
	}
	return out
}

// open opens one task. The id of the command is derived from the task, so that a
// second call returns the first one's instance. A task that says no more than its title
// says what plan it is of.
func (c planImport) open(ctx context.Context, env *term.Env, s system, t plan.Task, of string, config *instance.Configuration) error {
	out := c.toImport(t)
	key := sha256.Sum256([]byte(out.Instance))
	body := t.Description
	if body == "" && of != "" {
		body = "A task of the plan: " + of
	}
	reply, err := s.OpenWith(ctx, "plan-"+hex.EncodeToString(key[:16]), out.Instance, &pb.Open{
		Workflow: "task", Issue: wire.Issue(instance.Issue{Repo: c.Repo, Title: t.Title, Body: body, Config: config}), After: out.After,
		Vars: map[string]string{
			"plan_file": filepath.ToSlash(c.File), "priority": strconv.Itoa(t.Priority), "builds_on": strings.Join(out.After, ","),
		},
	})
	refusal := new(instance.Refusal)
	there := errors.As(err, &refusal) && refusal.Code == instance.CodeExists
	if err != nil && !there {
		return fmt.Errorf("%s:%d: %w", c.File, t.Line, err)
	}
	in := reply.GetInstance()
	if there {
		if in, err = s.Get(ctx, out.Instance); err != nil {
			return err
		}
	}
	out.Opened, out.State = !there && !reply.GetDuplicate(), in.GetState()
	said := "opened"
	if !out.Opened {
		said = "is there already, in " + out.State
	}
	return c.print(env, out, said)
}

// print prints one task.
func (c planImport) print(env *term.Env, t importedTask, said string) error {
	if env.JSON {
		return env.Print(t)
	}
	after := ""
	if len(t.After) > 0 {
		after = ", after " + strings.Join(t.After, ", ")
	}
	env.Printf("%s %s: %s, priority %d%s\n", term.Line(t.Instance), said, term.Line(t.Title), t.Priority, term.Line(after))
	return nil
}
