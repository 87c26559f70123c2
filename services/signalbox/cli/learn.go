package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// learnCommands has the commands about what was learned of repositories.
type learnCommands struct {
	Ls      learnLs      `cmd:"" help:"List learnings, most trusted first, with state and source."`
	Add     learnAdd     `cmd:"" help:"Note a fact for the next work on a repository; it counts as confirmed by you."`
	Confirm learnConfirm `cmd:"" help:"Confirm what an agent learned, so that prompts have it."`
	Rm      learnRm      `cmd:"" help:"Remove what was learned; agents cannot bring it back."`
}

type learnLs struct {
	running
	Repo string `name:"repo" env:"-" placeholder:"OWNER/NAME" help:"Only of this repository."`
	Path string `name:"path" env:"-" placeholder:"PATH" help:"Only what is about this file or directory, what is below it, or the whole repository."`
	All  bool   `name:"all" short:"a" env:"-" help:"Also what no longer counts: aged, displaced or removed."`
}

// Run lists what was learned.
func (c learnLs) Run(ctx context.Context, env *term.Env) error {
	path, err := cleanPath(c.Path)
	if err != nil {
		return err
	}
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		all, err := s.learned(ctx, c.Repo)
		if err != nil {
			return err
		}
		left := 0
		all = slices.DeleteFunc(all, func(l view.Learning) bool {
			gone := l.State != learning.StateConfirmed && l.State != learning.StateProposed
			if gone && !c.All {
				left++
			}
			return gone && !c.All || !concerns(l.Path, path)
		})
		return view.Learnings(env, all, left)
	})
}

// concerns reports whether what is about one path is of interest for another.
func concerns(about, path string) bool {
	return path == "" || about == "" || about == path || strings.HasPrefix(about, path+"/") || strings.HasPrefix(path, about+"/")
}

// cleanPath returns a path as learnings have it.
func cleanPath(path string) (string, error) {
	clean, _, err := learning.Clean(path, "a text")
	if err != nil {
		return "", service.Usagef("--path: %w", err)
	}
	return clean, nil
}

// learned returns what was learned of a repository or, without a name, of all.
func (s system) learned(ctx context.Context, repo string) (all []view.Learning, err error) {
	repos := []string{repo}
	if repo == "" {
		records, err := s.List(ctx, &pb.ListRequest{Workflow: learning.Workflow, All: true})
		if err != nil {
			return nil, err
		}
		repos = nil
		for _, r := range records {
			if of, ok := learning.Repo(r.GetInstance()); ok {
				repos = append(repos, of)
			}
		}
	}
	for _, repo := range repos {
		found, err := s.Learnings(ctx, repo)
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			all = append(all, view.LearningOf(repo, l))
		}
	}
	return all, nil
}

type learnAdd struct {
	running
	Repo string   `name:"repo" env:"-" required:"" placeholder:"OWNER/NAME" help:"The repository."`
	Path string   `name:"path" env:"-" placeholder:"PATH" help:"File or directory that it is about; by default the whole repository."`
	Text []string `arg:"" name:"text" help:"The learning: one fact, at most 500 characters."`
}

// Run notes a learning.
func (c learnAdd) Run(ctx context.Context, env *term.Env) error {
	if owner, name, ok := strings.Cut(c.Repo, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return service.Usagef("--repo: %q is no repository: want OWNER/NAME", c.Repo)
	}
	path, text, err := learning.Clean(c.Path, strings.Join(c.Text, " "))
	if err != nil {
		return service.Usagef("%w", err)
	}
	return c.note(ctx, env, c.Repo, &pb.Note{Kind: learning.Noted, Text: text, Learning: &pb.Learning{Path: path}}, learning.ID(path, text))
}

// note sends a note to the record of a repository, and prints the learning that it is about.
func (r running) note(ctx context.Context, env *term.Env, repo string, n *pb.Note, id string) error {
	return r.call(ctx, env, func(ctx context.Context, s system) error { return s.note(ctx, env, repo, n, id) })
}

func (s system) note(ctx context.Context, env *term.Env, repo string, n *pb.Note, id string) error {
	_, err := s.Do(ctx, subject.Note, &pb.Command{Instance: learning.Record(repo), Action: &pb.Command_Note{Note: n}})
	if no := new(instance.Refusal); errors.As(err, &no) && no.Code == instance.CodeInvalid {
		return service.Usagef("%w", err)
	}
	if err != nil {
		return err
	}
	all, err := s.learned(ctx, repo)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(l view.Learning) bool { return l.ID == id })
	if i < 0 {
		return fmt.Errorf("%s was noted, and is not among what %s has", id, repo)
	}
	if env.JSON {
		return env.Print(all[i])
	}
	env.Printf("%s: %s: %s\n", id, all[i].State, term.Line(all[i].Text))
	return nil
}

// learnArg has the flags of a command about one learning.
type learnArg struct {
	running
	ID   string `arg:"" name:"id" help:"The learning, as learn ls names it."`
	Repo string `name:"repo" env:"-" placeholder:"OWNER/NAME" help:"Its repository; by default the one that has it."`
}

// send sends a note about the learning.
func (c learnArg) send(ctx context.Context, env *term.Env, kind string) error {
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		repo, err := c.find(ctx, s)
		if err != nil {
			return err
		}
		return s.note(ctx, env, repo, &pb.Note{Kind: kind, Learning: &pb.Learning{Ids: []string{c.ID}}}, c.ID)
	})
}

// find returns the repository that has the learning.
func (c learnArg) find(ctx context.Context, s system) (string, error) {
	all, err := s.learned(ctx, c.Repo)
	if err != nil {
		return "", err
	}
	var ids, repos []string
	for _, l := range all {
		ids = append(ids, l.ID)
		if l.ID == c.ID {
			repos = append(repos, l.Repo)
		}
	}
	switch len(repos) {
	case 0:
		return "", service.Usagef("there is no learning %q%s; signalbox learn ls --all lists them", c.ID, orMeant(c.ID, ids))
	case 1:
		return repos[0], nil
	}
	return "", service.Usagef("%s is a learning of %s: name one with --repo", c.ID, strings.Join(repos, " and of "))
}

type learnConfirm struct{ learnArg }

// Run confirms a learning.
func (c learnConfirm) Run(ctx context.Context, env *term.Env) error {
	return c.send(ctx, env, learning.Confirmed)
}

type learnRm struct{ learnArg }

// Run removes a learning.
func (c learnRm) Run(ctx context.Context, env *term.Env) error {
	return c.send(ctx, env, learning.Dropped)
}
