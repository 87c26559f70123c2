package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type logsCommand struct {
	readingOne
	State   string `name:"state" env:"-" placeholder:"STATE" help:"Only steps in this state."`
	Attempt int    `name:"attempt" env:"-" placeholder:"N" help:"Only the Nth step in its state, from 1."`
	Follow  bool   `name:"follow" short:"f" env:"-" help:"Print the steps to come as well, until the instance closes."`
}

// errNoStep means that no step is asked for.
var errNoStep = errors.New("no such step")

// Run prints what was said in the steps of an instance: what a brain was asked, what it
// printed, and what the checks printed.
func (c logsCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Follow && c.Data != "" {
		return service.Usagef("--follow needs a running system, --data is a stopped one")
	}
	if c.Attempt < 0 {
		return service.Usagef("--attempt %d: want 1 for the first step in its state", c.Attempt)
	}
	var steps view.Steps
	var last uint64
	closed := false
	err := c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		records, err := s.History(ctx, c.ID, 0)
		if err != nil {
			return err
		}
		found, states := false, []string{}
		for _, commit := range view.Commits(records) {
			last = commit.Seq
			for _, step := range steps.Next(c.ID, commit) {
				states = append(states, step.State)
				if !c.wants(step) {
					continue
				}
				found = true
				if err := printStep(ctx, env, s, step); err != nil {
					return err
				}
			}
		}
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		if closed = in.GetClosed() != ""; !found && (!c.Follow || closed) {
			return c.noStep(states)
		}
		if c.Follow && !closed {
			return c.canCome(ctx, s, in)
		}
		return nil
	})
	switch {
	case c.Follow && ctx.Err() != nil:
		return nil // a person ends it
	case err != nil || !c.Follow || closed:
		return err
	}
	fmt.Fprintf(env.Stderr, "following %s from sequence %d on; Ctrl-C ends it\n", c.ID, last+1)
	return c.follow(ctx, env, &steps, last)
}

// canCome returns a usage error if no step in the state can ever come.
func (c logsCommand) canCome(ctx context.Context, s reader, in *pb.Instance) error {
	if c.State == "" {
		return nil
	}
	def, err := definitionOf(ctx, s, in)
	if err != nil {
		return err
	}
	return oneOf("--state", c.State, def.StateNames())
}

func (c logsCommand) wants(s view.Step) bool {
	return (c.State == "" || s.State == c.State) && (c.Attempt == 0 || s.Attempt == c.Attempt)
}

// noStep lists the steps.
func (c logsCommand) noStep(states []string) error {
	if len(states) == 0 {
		return fmt.Errorf("%s: %w: no agent has reported a result yet", c.ID, errNoStep)
	}
	n := map[string]int{}
	for _, state := range states {
		n[state]++
	}
	var all []string
	for _, state := range slices.Compact(states) {
		if n[state] > 0 {
			all = append(all, fmt.Sprintf("%s (%d)", state, n[state]))
			n[state] = 0
		}
	}
	hint := ""
	if c.State != "" && !slices.Contains(states, c.State) {
		hint = orMeant(c.State, states)
	}
	return fmt.Errorf("%s: %w; there are %s%s", c.ID, errNoStep, strings.Join(all, ", "), hint)
}

// follow prints the steps behind a sequence until the instance closes.
func (c logsCommand) follow(ctx context.Context, env *term.Env, steps *view.Steps, after uint64) error {
	s, err := c.connect(ctx, env)
	if err != nil {
		return err
	}
	defer s.nats.Close()
	err = s.Watch(ctx, c.ID, after, func(e client.LogEntry) error {
		for _, step := range steps.Next(c.ID, e.Commit) {
			if c.wants(step) {
				if err := printStep(ctx, env, s, step); err != nil {
					return err
				}
			}
		}
		for _, event := range view.Events(c.ID, "", e.Commit) {
			if over, _ := event.Over(); over {
				return client.ErrStopWatch
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil // a person ends it
	}
	return err
}

// stepLog is a step with its texts, as JSON.
type stepLog struct {
	view.Step
	Texts []text `json:"texts"`
}

// text is an artifact of a step.
type text struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// printStep prints a step and its artifacts.
func printStep(ctx context.Context, env *term.Env, s reader, step view.Step) error {
	all := stepLog{Step: step, Texts: []text{}}
	for _, a := range step.Result.Artifacts {
		if strings.HasSuffix(a.Name, ".png") {
			all.Texts = append(all.Texts, text{a.Name, fmt.Sprintf("a picture of %d bytes, SHA-256 %s: the console shows it", a.Size, a.SHA256)})
			continue
		}
		content, err := object(ctx, s, step.Instance, a.Object)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", a.Name, step.State, err)
		}
		all.Texts = append(all.Texts, text{a.Name, string(content)})
	}
	if env.JSON {
		return env.Print(all)
	}
	r := step.Result
	env.Printf("%s\n", env.Paint(term.Bold, term.Line(fmt.Sprintf("%s %d %s %s %s %s %s", step.State, step.Attempt, step.Role, step.Agent, r.Status,
		step.Time.UTC().Format("2006-01-02 15:04:05"), term.Duration(time.Duration(step.TookS*float64(time.Second)))))))
	if r.Summary != "" {
		env.Printf("%s\n", term.Indent(term.Text(r.Summary), "  "))
	}
	for _, t := range all.Texts {
		printText(env, t.Name, t.Text)
	}
	for _, ev := range r.Evidence {
		printText(env, evidenceTitle(ev), ev.Output)
	}
	return nil
}

func evidenceTitle(ev instance.Evidence) string {
	title := ev.Name
	if ev.Command != "" {
		title += ": " + ev.Command
	}
	if ev.OK {
		return title + ", ok"
	}
	return fmt.Sprintf("%s, exit code %d", title, ev.ExitCode)
}

// printText prints a text below its title.
func printText(env *term.Env, title, content string) {
	if content = strings.TrimRight(content, "\n"); content == "" {
		content = "(nothing)"
	}
	env.Printf("%s\n%s\n", env.Paint(term.Faint, "── "+term.Line(title)), term.Indent(term.Text(content), "  "))
}

// object reads an object that the instance refers to.
func object(ctx context.Context, s reader, id, name string) (content []byte, err error) {
	r, err := s.GetObject(ctx, client.Holder{Instance: id}, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}
