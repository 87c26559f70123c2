// Package handin checks what a job that ran brains has left, before a job that holds a
// token takes it on. It serves `signalbox pipeline check` and `signalbox pipeline reason`.
// It believes none of the files, and needs no token.
package handin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Check is `signalbox pipeline check`.
type Check struct {
	Repo  string `name:"repo" default:"." placeholder:"DIR" help:"Clone of the repository, with the forge's branches as those of origin. The commits are brought into it, onto no branch."`
	From  string `name:"from" required:"" placeholder:"DIR" help:"Files that the job left: outcome.json, which pipeline run --json printed, and change.bundle, with its branch."`
	Issue int    `name:"issue" required:"" placeholder:"NUMBER" help:"The issue. Its branch is agent/issue-NUMBER, and no other."`
	Base  string `name:"base" required:"" placeholder:"BRANCH" help:"Default branch of the repository on the forge."`
}

// Checked is what may leave, as --json prints it.
type Checked struct {
	Branch string `json:"branch"`
	Head   string `json:"head"` // what the branch may be moved to
	Title  string `json:"title"`
	Body   string `json:"body"`
}

// ErrNothing is returned if the job left no work to hand in.
var ErrNothing = errors.New("there is nothing to hand in")

// maxFile limits the bytes of a file that the job left.
const maxFile = 4 << 20

// handIn is where the commits are kept in the clone.
const handIn = "refs/signalbox/hand-in"

// Run prints what may leave. Its error has the findings if it may not.
func (c Check) Run(ctx context.Context, env *term.Env) error {
	checker, err := newChecker()
	if err != nil {
		return err
	}
	var left struct {
		Branch      string `json:"branch"`
		PullRequest *struct {
			Title string `json:"title"`
			Body  string `json:"body"`
		} `json:"pull_request"`
	}
	if err := decode(filepath.Join(c.From, "outcome.json"), &left); err != nil {
		return err
	}
	branch := pipeline.Branch(instance.Issue{Number: c.Issue})
	switch {
	case c.Issue <= 0:
		return service.Usagef("--issue %d is not the number of an issue", c.Issue)
	case left.Branch == "" || left.PullRequest == nil:
		return ErrNothing
	case left.Branch != branch:
		return &outbound.Refusal{Findings: []outbound.Finding{{
			Rule: "branch", Path: sanitize.TerminalLine(left.Branch), Detail: fmt.Sprintf("the branch of issue %d is %s", c.Issue, branch),
		}}}
	}
	head, err := c.change(ctx, checker, branch)
	if err != nil {
		return err
	}
	out := Checked{branch, head, left.PullRequest.Title, left.PullRequest.Body}
	err = errors.Join(
		checker.Text(outbound.Text{What: "title of the pull request", Body: out.Title, Line: true, Max: outbound.MaxTitle}),
		checker.Text(outbound.Text{What: "pull request", Body: out.Body, Closes: c.Issue}))
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Print(out)
	}
	env.Printf("%s at %s may leave\n", out.Branch, out.Head)
	return nil
}

// change brings the commits of the bundle into the clone and checks them. It returns the
// head.
func (c Check) change(ctx context.Context, checker *outbound.Checker, branch string) (head string, err error) {
	bundle, err := filepath.Abs(filepath.Join(c.From, "change.bundle"))
	if err != nil {
		return "", err
	}
	if info, err := os.Lstat(bundle); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(ErrNothing, err)
	}
	g := git.New(c.Repo).WithConfig("fetch.fsckObjects", "true")
	if _, err := g.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", bundle, "+refs/heads/"+branch+":"+handIn); err != nil {
		return "", err
	}
	refs, err := g.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", handIn, "refs/remotes/origin")
	if err != nil {
		return "", err
	}
	p := outbound.Push{Branch: branch, Default: c.Base}
	for line := range strings.Lines(refs) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch ref {
		case handIn:
			p.Head = commit
			continue
		case "refs/remotes/origin/" + c.Base:
			p.Tip = commit
		case "refs/remotes/origin/" + branch:
			p.There = commit
		}
		p.Known = append(p.Known, commit)
	}
	change, err := checker.Change(ctx, g, p)
	return change.Head(), err
}

func newChecker() (*outbound.Checker, error) {
	secrets, err := secret.New()
	if err != nil {
		return nil, err
	}
	return outbound.New(outbound.DefaultRules(), secrets.With(secret.Environment(os.Environ())...)), nil
}

// decode reads a file of JSON that another program wrote.
func decode(name string, v any) error {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return errors.Join(ErrNothing, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}
