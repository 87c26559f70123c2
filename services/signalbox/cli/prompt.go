package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// promptCommand has the commands about prompts. Only show --instance needs a running system.
type promptCommand struct {
	Ls   promptLs   `cmd:"" help:"List the prompts of each role and state, and what each is made from."`
	Show promptShow `cmd:"" help:"Print the prompt of a role in a state, exactly as a brain would get it."`
}

// promptSources has the flags for the places of templates, in addition to the shipped ones.
type promptSources struct {
	sources
	Prompts string `name:"prompts" type:"path" placeholder:"DIR" help:"Directory of templates of an operator, which win."`
	Repo    string `name:"repo" env:"-" type:"existingdir" placeholder:"DIR" help:"Git repository whose templates, guidance and tests count, as its HEAD, or the base of the instance, has them."`
}

// templates returns the operator's templates.
func (c promptSources) templates(defs []*workflow.Definition) (prompt.Set, error) {
	set, err := prompt.Read(c.Prompts)
	if err == nil {
		err = set.CheckNames(defs)
	}
	if err != nil {
		return set, service.Usagef("%w", err)
	}
	return set, nil
}

// brief adds to b what the repository has for a role in a state, at a commit.
func (c promptSources) brief(ctx context.Context, b *work.Brief, commit, role, state string) error {
	b.Forbidden = outbound.DefaultRules().Forbidden
	if c.Repo == "" {
		return nil
	}
	g := git.New(c.Repo)
	commit, err := g.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return service.Usagef("--repo %s: it has no such commit: %w", c.Repo, err)
	}
	b.Test = tested(c.Repo)
	return prompt.Repository(b, role, state, func(name string) (string, string, error) {
		entry, err := g.Run(ctx, "ls-tree", "--full-tree", commit, "--", name)
		fields := strings.Fields(entry)
		if err != nil || len(fields) < 3 || fields[0] != "100644" && fields[0] != "100755" {
			return "", "", err
		}
		text, err := g.Output(ctx, 4<<20, "cat-file", "blob", fields[2])
		if errors.Is(err, git.ErrTooLarge) {
			err = nil
		}
		return string(text), fields[2], err
	})
}

// tested returns the command that tests the repository in a directory; empty: none is found.
func tested(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	plan, err := testrun.Detect(root.FS())
	if err != nil {
		return ""
	}
	return plan.Command()
}

type promptLs struct{ promptSources }

// promptRow is a line of `prompt ls`.
type promptRow struct {
	Name     string `json:"name"` // ROLE.STATE
	Workflow string `json:"workflow"`
	Template string `json:"template"` // its file
	From     string `json:"from"`     // operator, repository or shipped
	Wrong    string `json:"wrong,omitempty"`
}

// Run lists the roles and states, with the template of each.
func (c promptLs) Run(ctx context.Context, env *term.Env) error {
	catalog, err := c.all()
	if err != nil {
		return err
	}
	set, err := c.templates(catalog.All())
	if err != nil {
		return err
	}
	table := env.Table("NAME", "LIFECYCLE", "FROM", "TEMPLATE")
	for _, d := range catalog.All() {
		for _, name := range d.StateNames() {
			state, _ := d.State(name)
			if !slices.Contains(allinone.ThinkingRoles(d), state.Owner) {
				continue
			}
			a := prompt.ExampleOf(d, state.Owner, name)
			if err := c.brief(ctx, &a.Brief, "HEAD", a.Role, a.State); err != nil {
				return err
			}
			p := set.Render(a)
			row := promptRow{Name: a.Role + "." + a.State, Workflow: d.Name, Template: p.Used.File, From: p.From}
			if p.Refused != nil {
				row.Wrong = p.Refused.Error()
				fmt.Fprintf(env.Stderr, "%s: not used: %s\n", row.Name, term.Line(row.Wrong))
			}
			if env.JSON {
				if err := env.Print(row); err != nil {
					return err
				}
				continue
			}
			table.Row(row.Name, row.Workflow, row.From, term.Line(row.Template))
		}
	}
	if env.JSON {
		return nil
	}
	return table.Print()
}

type promptShow struct {
	reading
	promptSources
	Instance string `name:"instance" env:"-" placeholder:"ID" help:"Fill it with this instance, as if it were in the state now. Without it, with an example."`
	Source   bool   `name:"source" env:"-" help:"Print the template itself, to begin one of your own with."`
	Name     string `arg:"" name:"role.state" help:"A role and a state of it, such as developer.implementing."`
}

// Run prints the prompt.
func (c promptShow) Run(ctx context.Context, env *term.Env) error {
	if c.Instance != "" {
		return c.read(ctx, env, func(ctx context.Context, s reader) error { return c.ofInstance(ctx, env, s) })
	}
	catalog, err := c.all()
	if err != nil {
		return err
	}
	d, role, state, err := c.find(catalog.All())
	if err != nil {
		return err
	}
	a := prompt.ExampleOf(d, role, state)
	a.Brief.Guidance, a.Brief.Templates = nil, nil
	return c.print(ctx, env, a, "HEAD", catalog.All())
}

// find returns the lifecycle that has the role and the state.
func (c promptShow) find(defs []*workflow.Definition) (*workflow.Definition, string, string, error) {
	role, state, _ := strings.Cut(c.Name, ".")
	for _, d := range defs {
		if row, ok := d.State(state); ok && row.Owner == role {
			return d, role, state, nil
		}
	}
	known := slices.DeleteFunc(prompt.Known(defs), func(name string) bool { return !strings.Contains(name, ".") })
	hint := ""
	if meant := workflow.Nearest(c.Name, known); meant != "" {
		hint = "; did you mean " + meant + "?"
	} else if own := slices.DeleteFunc(slices.Clone(known),
		func(name string) bool { return !strings.HasPrefix(name, role+".") }); len(own) > 0 {
		hint = "; want one of " + strings.Join(own, ", ")
	}
	return nil, "", "", service.Usagef("%s: no lifecycle has such a role in such a state%s", c.Name, hint)
}

// ofInstance prints the prompt of an instance.
func (c promptShow) ofInstance(ctx context.Context, env *term.Env, s reader) error {
	in, err := s.Get(ctx, c.Instance)
	if err != nil {
		return err
	}
	d, err := definitionOf(ctx, s, in)
	if err != nil {
		return err
	}
	_, role, state, err := c.find([]*workflow.Definition{d})
	if err != nil {
		return err
	}
	records, err := s.History(ctx, c.Instance, 0)
	if err != nil {
		return err
	}
	a := agent.Assignment(in)
	a.Attempt = visits(in, state)
	a.Role, a.State, a.Failures = role, state, int(in.GetFailures()[state])
	prompt.Ask(&a, d)
	a.Brief.Steps = work.PastSteps(view.Commits(records))
	if a.Brief.Learnings, err = fitting(ctx, env, s, a); err != nil {
		return err
	}
	if a.Base != "" {
		a.Dir = "/the/work/tree"
	}
	if c.Repo == "" {
		fmt.Fprintln(env.Stderr, "without --repo, the templates, the guidance and the tests of its repository are not in it")
	}
	return c.print(ctx, env, a, a.Base, []*workflow.Definition{d})
}

// fitting returns what was learned of the repository of an assignment, as far as it fits
// it. The changes of the work so far are not known.
func fitting(ctx context.Context, env *term.Env, s reader, a work.Assignment) ([]learning.Learning, error) {
	if a.Issue.Repo == "" {
		return nil, nil
	}
	records, err := s.History(ctx, learning.Record(a.Issue.Repo), 0)
	if no := new(instance.Refusal); errors.As(err, &no) && no.Code == instance.CodeUnknownInstance {
		return nil, nil // nothing was learned
	}
	if err != nil {
		return nil, err
	}
	var b learning.Book
	for _, c := range view.Commits(records) {
		b.Apply(c)
	}
	well := func(id string) bool {
		in, err := s.Get(ctx, id)
		return err == nil && in.GetClosed() == string(instance.Ended) && !in.GetFailed()
	}
	return a.FitLearnings(b.List(env.Now(), well), nil), nil
}

// visits returns how often an instance was in a state, the visit included that is now.
func visits(in *pb.Instance, state string) int {
	n := 0
	for _, v := range in.GetVisits() {
		if v.GetState() == state {
			n = int(v.GetCount())
		}
	}
	if in.GetState() != state {
		n++
	}
	return n
}

// shownPrompt is the JSON of `prompt show`.
type shownPrompt struct {
	Role     string `json:"role"`
	State    string `json:"state"`
	Template string `json:"template"`
	From     string `json:"from"`
	Wrong    string `json:"wrong,omitempty"`
	Text     string `json:"text"`
}

// print prints the prompt of an assignment.
func (c promptShow) print(ctx context.Context, env *term.Env, a work.Assignment, commit string, defs []*workflow.Definition) error {
	set, err := c.templates(defs)
	if err != nil {
		return err
	}
	if err := c.brief(ctx, &a.Brief, commit, a.Role, a.State); err != nil {
		return err
	}
	p := set.Render(a)
	shown := shownPrompt{Role: a.Role, State: a.State, Template: p.Used.File, From: p.From, Text: p.Text}
	if c.Source {
		shown.Text = p.Used.Text
	}
	if p.Refused != nil {
		shown.Wrong = p.Refused.Error()
	}
	if env.JSON {
		return env.Print(shown)
	}
	if shown.Wrong != "" {
		fmt.Fprintf(env.Stderr, "not used: %s\n", term.Line(shown.Wrong))
	}
	fmt.Fprintf(env.Stderr, "made from %s (%s)\n", term.Line(filepath.ToSlash(shown.Template)), shown.From)
	env.Printf("%s", sanitize.Terminal(shown.Text))
	return nil
}
