package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type prdImport struct {
	planFlags
	Workflow string `name:"workflow" env:"-" default:"story" help:"Lifecycle that the stories open with."`
	DryRun   bool   `name:"dry-run" env:"-" help:"Say what would be opened, and open nothing."`
}

// importedStory is the JSON of one story of a plan.
type importedStory struct {
	Instance string   `json:"instance"`
	Story    string   `json:"story"` // its id in the plan
	Title    string   `json:"title"`
	Priority int      `json:"priority"`
	Opened   bool     `json:"opened"` // by this call
	Status   string   `json:"status"` // of the instance; without one, of the plan
	After    []string `json:"after"`  // instances of the stories that it depends on
}

// Run opens an instance for each story of a plan.
func (c prdImport) Run(ctx context.Context, env *term.Env) error {
	plan, err := c.read()
	if err != nil {
		return err
	}
	if len(plan.Stories) == 0 {
		return service.Usagef("%s: there is no story in it", c.File)
	}
	if keys := ignored(plan.Ignored); keys != "" {
		_, _ = fmt.Fprintf(env.Stderr, "%s has keys that mean nothing here, and are left out: %s\n", term.Line(c.File), keys)
	}
	for _, s := range plan.Stories {
		if err := fits(s); err != nil {
			return service.Usagef("%s:%d: story %s: %w", c.File, s.Line, s.ID, err)
		}
	}
	if c.DryRun {
		wouldBeConfigured(env, c.Repo)
		return c.each(env, plan, func(s prd.Story, t importedStory) (importedStory, string, error) { return t, "would be opened", nil })
	}
	return c.call(ctx, env, func(ctx context.Context, sys system) error {
		config, err := sys.configuredBy(ctx, env, c.Repo)
		if err != nil {
			return err
		}
		return c.each(env, plan, func(s prd.Story, t importedStory) (importedStory, string, error) {
			return c.open(ctx, sys, s, t, config)
		})
	})
}

// maxIgnored is how many keys are named.
const maxIgnored = 10

// ignored lists keys of a plan that nothing reads, each with its line.
func ignored(all []prd.Ignored) string {
	var said []string
	for i, k := range all {
		if i == maxIgnored {
			said = append(said, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		text := fmt.Sprintf("%q on line %d", k.Key, k.Line)
		if k.Count > 1 {
			text += fmt.Sprintf(" and %d times more", k.Count-1)
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

// fits returns an error if a story is too large, or is committed without a branch.
func fits(s prd.Story) error {
	switch {
	case len(s.JSON()) > maxStory:
		return fmt.Errorf("it has %d bytes, want at most %d", len(s.JSON()), maxStory)
	case s.Status == prd.Committed && s.Branch == "":
		return errors.New("it is committed, but names no branch: give its branchName, or set it to pending")
	}
	return nil
}

// each calls do for every story that has not ended, and prints the results.
func (c prdImport) each(env *term.Env, plan *prd.File, do func(prd.Story, importedStory) (importedStory, string, error)) error {
	done := map[string]bool{} // or given up: nothing waits for it
	for _, s := range plan.Stories {
		done[s.ID] = s.Status.Ended()
	}
	for _, s := range inOrder(plan.Stories) {
		t, said := importedStory{c.name(s), s.ID, s.Title, s.Priority, false, string(s.Status), []string{}}, "is left: it is "+string(s.Status)
		for _, id := range s.After {
			if !done[id] {
				t.After = append(t.After, c.name(prd.Story{ID: id}))
			}
		}
		if !s.Status.Ended() {
			var err error
			if t, said, err = do(s, t); err != nil {
				return fmt.Errorf("%s:%d: story %s: %w", c.File, s.Line, s.ID, err)
			}
		}
		if env.JSON {
			if err := env.Print(t); err != nil {
				return err
			}
			continue
		}
		after := ""
		if len(t.After) > 0 {
			after = ", after " + strings.Join(t.After, ", ")
		}
		env.Printf("%s %s: %s, priority %d%s\n", term.Line(t.Instance), said, term.Line(t.Title), t.Priority, term.Line(after))
	}
	return nil
}

// inOrder returns the stories as they are opened: what others depend on first, then by
// priority, then as the file has them. A developer that is free takes the first.
func inOrder(all []prd.Story) []prd.Story {
	by := slices.Clone(all)
	slices.SortStableFunc(by, func(a, b prd.Story) int { return cmp.Compare(a.Priority, b.Priority) })
	var out []prd.Story
	placed := map[string]bool{}
	var place func(s prd.Story)
	place = func(s prd.Story) {
		if placed[s.ID] {
			return
		}
		placed[s.ID] = true
		for _, id := range s.After {
			if i := slices.IndexFunc(by, func(o prd.Story) bool { return o.ID == id }); i >= 0 {
				place(by[i])
			}
		}
		out = append(out, s)
	}
	for _, s := range by {
		place(s)
	}
	return out
}

// open opens one story. The id of the command is derived from the story, so that a
// second call returns the first one's instance.
func (c prdImport) open(ctx context.Context, sys system, s prd.Story, t importedStory, config *instance.Configuration) (importedStory, string, error) {
	vars := map[string]string{"story": s.JSON(), "priority": strconv.Itoa(s.Priority)}
	state := ""
	if s.Status != prd.Pending { // it was begun elsewhere
		state = string(s.Status)
		vars["prNumber"], vars["lastActivityBy"] = strconv.Itoa(s.PR), s.LastActivityBy
	}
	if s.Branch != "" {
		vars["branch"] = s.Branch
	}
	key := sha256.Sum256([]byte(t.Instance))
	reply, err := sys.OpenWith(ctx, "prd-"+hex.EncodeToString(key[:16]), t.Instance, &pb.Open{
		Workflow: c.Workflow, State: state, Vars: vars, After: t.After,
		Issue: wire.Issue(instance.Issue{Repo: c.Repo, Number: s.Issue, Title: s.Title, Body: s.Text(), Config: config}),
	})
	refusal := new(instance.Refusal)
	there := errors.As(err, &refusal) && refusal.Code == instance.CodeExists
	if err != nil && !there {
		return t, "", err
	}
	in := reply.GetInstance()
	if there || reply.GetDuplicate() {
		if in, err = sys.Get(ctx, t.Instance); err != nil {
			return t, "", err
		}
		if in.GetVars()["story"] == "" {
			return t, "", fmt.Errorf("%s is there already, and is no story of a plan: name the stories otherwise with --prefix", t.Instance)
		}
		t.Status = in.GetState()
		return t, "is there already, in " + in.GetState(), nil
	}
	t.Opened, t.Status = true, in.GetState()
	return t, "opened in " + in.GetState(), nil
}
