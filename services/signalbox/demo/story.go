package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/services/gateway/app"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// story acts as the reporter, narrates the instance and checks the outcome.
type story struct {
	env *term.Env
	n   *narrator.Narrator
	dir string
}

// run is the Main of the system.
func (s *story) run(ctx context.Context, system *allinone.System) error {
	if system.Console != nil {
		s.n.Say("console: %s (signs in once)", system.Console.SignInLink())
	}
	reporter, err := github.New(github.Config{BaseURL: system.Forge.API(), Token: system.Forge.Secret})
	if err != nil {
		return err
	}
	title, body, err := report()
	if err != nil {
		return err
	}
	issue, err := reporter.CreateIssue(ctx, repo, forge.NewIssue{Title: title, Body: body})
	if err != nil {
		return err
	}
	s.n.Title("%s reports %s", system.Forge.Person, issue.URL)
	s.n.Quote("# " + title + "\n\n" + body)
	s.n.Say("")
	c := client.New(system.NATS, "demo")
	id := app.Name(repo, issue.Number)
	err = follow(ctx, c, s.n, id, func(seen client.LogEntry) error {
		for _, e := range seen.Events {
			moved, ok := e.(instance.Moved)
			switch {
			case !ok:
			case moved.Kind == workflow.Final:
				return client.ErrStopWatch
			case moved.Kind == workflow.Wait:
				if err := s.answer(ctx, reporter, issue.Number, func() (bool, error) { return s.waits(ctx, c, system, id, moved.To) }); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.prove(ctx, c, system, id); err != nil {
		return err
	}
	return s.look(ctx, system)
}

// lookFor is how long the console stays open after the end.
const lookFor = 10 * time.Minute

// watched reports whether a person looks on, at a terminal that is none of a CI job.
func (s *story) watched(system *allinone.System) bool {
	return system.Console != nil && s.env.Person && s.env.Terminal && os.Getenv("CI") == ""
}

// waits gives a person who looks on the time to answer in the console. It reports whether they did; else they pressed Enter, or
// nobody looks. state is the one that waits.
func (s *story) waits(ctx context.Context, c *client.Client, system *allinone.System, id, state string) (answered bool, err error) {
	if !s.watched(system) {
		return false, nil
	}
	s.n.Say("          Answer in the console: %s&next=/inbox (signs in once)", system.Console.SignInLink())
	s.n.Say("          Or press Enter here: %s answers.", system.Forge.Person)
	for end := time.Now().Add(lookFor); time.Now().Before(end); {
		second, stop := context.WithTimeout(ctx, time.Second)
		_, err := s.env.ReadLine(second)
		asleep := second.Err() != nil
		stop()
		if !asleep || ctx.Err() != nil {
			return false, err
		}
		if in, err := c.Get(ctx, id); err != nil || in.GetState() != state {
			return true, err
		}
	}
	return false, nil
}

// look leaves the console open until a person presses Enter, where one looks.
func (s *story) look(ctx context.Context, system *allinone.System) error {
	if !s.watched(system) {
		return nil
	}
	s.n.Say("")
	s.n.Say("The console stays open for %.0f minutes: %s", lookFor.Minutes(), system.Console.SignInLink())
	s.n.Say("Press Enter to end it.")
	looking, stop := context.WithTimeout(ctx, lookFor)
	defer stop()
	if _, err := s.env.ReadLine(looking); err != nil && looking.Err() == nil {
		return err
	}
	return nil // a person who interrupts it has seen the end
}

// report returns the issue that the reporter opens.
func report() (title, body string, err error) {
	text, err := asset.ReadFile("asset/issue.md")
	head, rest, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(head, "# "), strings.TrimSpace(rest), err
}

// answer quotes the PM's questions from the issue and answers them there, unless a person has.
func (s *story) answer(ctx context.Context, reporter *github.Client, number int, answered func() (bool, error)) error {
	comments, err := reporter.Comments(ctx, repo, number, time.Time{})
	if err != nil {
		return err
	}
	if len(comments) == 0 {
		return fmt.Errorf("%w: it waits for an answer and asked nothing", ErrNotProven)
	}
	asked := comments[len(comments)-1]
	s.n.Say("          %s asks, %s", asked.Author.Login, asked.URL)
	s.n.Quote(visible(asked.Body))
	if done, err := answered(); done || err != nil {
		return err
	}
	text, err := asset.ReadFile("asset/answer.md")
	if err != nil {
		return err
	}
	said, err := reporter.Comment(ctx, repo, number, string(text))
	if err != nil {
		return err
	}
	s.n.Say("          %s answers, %s", said.Author.Login, said.URL)
	s.n.Quote(said.Body)
	return nil
}

// visible returns a comment without its hidden marker.
func visible(body string) string {
	before, _, _ := strings.Cut(body, "<!--")
	return before
}

// prove checks the outcome with the forge alone: it reads the pull request, clones its
// branch and runs the tests there.
func (s *story) prove(ctx context.Context, c *client.Client, system *allinone.System, id string) error {
	in, err := c.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := s.history(ctx, c, id); err != nil {
		return err
	}
	branch := in.GetLastResult().GetData()["branch"]
	if branch == "" {
		return fmt.Errorf("%w: %s ended in %s: %s", ErrNotProven, id, in.GetState(), in.GetReason())
	}
	outside, err := github.New(github.Config{BaseURL: system.Forge.API(), Token: system.Forge.Secret})
	if err != nil {
		return err
	}
	pr, err := outside.PullRequestByHead(ctx, repo, branch)
	if err != nil {
		return errors.Join(ErrNotProven, err)
	}
	clone := filepath.Join(s.dir, "clone")
	at, err := outside.Repository(ctx, repo)
	if err != nil {
		return err
	}
	if _, err := git.New(s.dir).WithToken(system.Forge.URL, system.Forge.Secret).Run(ctx, "clone", "-q", "--branch", branch, "--", at.CloneURL, clone); err != nil {
		return errors.Join(ErrNotProven, err)
	}
	diff, err := git.New(clone).Run(ctx, "diff", "origin/"+pr.BaseRef+"...HEAD")
	if err != nil {
		return err
	}
	s.n.Title("The change")
	s.n.Say("%s", diff)
	s.n.Title("In a fresh clone of %s: go test ./...", branch)
	out, err := goTest(ctx, clone)
	s.n.Say("%s", out)
	if err != nil {
		return fmt.Errorf("%w: go test ./... in a fresh clone: %w", ErrNotProven, err)
	}
	if err := s.verify(ctx, system, clone); err != nil {
		return err
	}
	s.n.Title("Done")
	s.n.Say("pull request  %s", pr.URL)
	s.n.Say("branch        %s, %s", branch, pr.HeadSHA)
	s.n.Say("log           %s", s.dir)
	s.n.Say("again         signalbox up --data %s   serves the forge and the log", s.dir)
	return os.RemoveAll(clone)
}
