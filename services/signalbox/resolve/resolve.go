// Package resolve takes one issue of a local repository from report to branch.
// The repository's own checkout, its index and its HEAD are never touched: the
// work happens in copies, and what comes back is one new branch.
package resolve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/report"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Command is `signalbox resolve`.
type Command struct {
	allinone.Agents
	Repo    string        `name:"repo" default:"." placeholder:"DIR" help:"The git repository. Its checkout is not touched."`
	Issue   string        `name:"issue" required:"" placeholder:"FILE" help:"The report in Markdown; the first heading is the title. Or the issue in JSON, as gh issue view N --json number,title,body,labels,url prints it. Or its address, https://HOST/OWNER/NAME/issues/N, which is read with --forge-url and --forge-token. - reads standard input."`
	Again   bool          `name:"again" env:"-" help:"Resolve a report again that an earlier call resolved."`
	Answers string        `name:"answers" placeholder:"FILE" help:"Answers to the questions an earlier run ended with; it goes on from there."`
	Base    string        `name:"base" placeholder:"BRANCH" help:"Branch to start from; the one that is checked out by default."`
	Out     string        `name:"document" env:"-" type:"path" placeholder:"FILE" help:"Where the document of the lifecycle is written at the end, if it has one; issue-state.json in $GITHUB_WORKSPACE if that is set."`
	Data    string        `name:"data" type:"path" placeholder:"DIR" help:"Where the log stays; by default in the user's state directory, one for each repository."`
	Push    bool          `name:"push" help:"Push the branch to the repository's remote: with the token to the forge's own host, by ssh, or to a path."`
	PR      bool          `name:"pr" help:"Push the branch and open its pull request on the forge."`
	Require string        `name:"require" enum:",shown" default:"" placeholder:"PROOF" help:"Proof that the branch needs for exit code 0: shown, a test that failed on the base and passes now. By default the policy unproven of the lifecycle decides."`
	Forge   github.Flags  `embed:"" prefix:"forge-"`
	Sync    time.Duration `name:"sync" default:"0s" help:"How often the log is flushed to disk; 0 flushes every event before anyone sees it."`
}

// ErrUnresolved is returned if the run ends without a branch.
var ErrUnresolved = errors.New("not resolved")

// ErrUnproven is returned if there is a branch, --require wants it to be shown, and no test
// shows that it does what the issue asks.
var ErrUnproven = errors.New("unproven, and --require shown wants a test that failed before and passes now")

// Run resolves the issue. It prints the pull request's description, or with --json
// the Outcome, to standard output, and what happens to standard error.
func (c Command) Run(ctx context.Context, env *term.Env) error {
	src, err := openRepository(ctx, c.Repo, c.Base)
	if err != nil {
		return service.Usagef("--repo %s: %w", c.Repo, err)
	}
	if c.Push || c.PR {
		if err := src.deliverable(ctx, c.PR); err != nil {
			return service.Usagef("--push: %w", err)
		}
	}
	issue, err := c.issue(ctx, env.Stdin)
	if err != nil {
		return service.Usagef("--issue %s: %w", c.Issue, err)
	}
	whole := issue.Body
	short, cut := report.Shorten(whole, report.InFile)
	issue.Body = short
	var answers []byte
	if c.Answers != "" {
		if answers, err = os.ReadFile(c.Answers); err != nil {
			return service.Usagef("--answers: %w", err)
		}
	}
	def, err := c.definition()
	if err != nil {
		return service.Usagef("%w", err)
	}
	if err := src.leavesRoom(def.Name); err != nil {
		return service.Usagef("--repo %s: %w", c.Repo, err)
	}
	dir, err := c.dir(ctx, src)
	if err != nil {
		return err
	}
	log, err := allinone.OpenData(ctx, dir)
	if err != nil {
		return err
	}
	defer log.Close()
	n := narrator.New(env.Stderr, env.Colour, env.Width)
	defer context.AfterFunc(ctx, n.Mute)()
	if env.Clock {
		defer n.Clock()()
	}
	r := &run{env: env, n: n, source: src, issue: issue, answers: answers, dir: dir, def: def, files: forActions(c.Out),
		again: c.Again, require: c.Require, tester: slices.ContainsFunc(c.Brain, func(spec string) bool { return strings.HasPrefix(spec, "tester") }), deliver: delivery{push: c.Push || c.PR, propose: c.PR, forge: c.Forge}}
	agents := c.Settings()
	if analyst := c.Analyst(); analyst != "" && slices.Contains(allinone.BrainRoles(def), "analyst") {
		n.Say("the analyst works with %s", analyst)
	}
	if issue.Repo != "" {
		agents.Original = issue
	}
	if cut {
		n.Say("the report has %d bytes: brains are shown its beginning and its end, and get all of it as a file", len(whole))
		agents.Whole = role.Whole{Title: issue.Title, Text: whole}
	}
	err = allinone.Run(ctx, allinone.Config{
		Dir: dir, Sync: c.Sync, Log: env.Logging.Logger(log), Flags: service.Flags{Grace: 20 * time.Second}, Agents: agents,
		Workflow: c.Workflow, Dirs: c.WorkflowDir, Every: 300 * time.Millisecond,
		Repos: map[string]allinone.Source{src.name: {Dir: src.dir, Branch: src.branch}}, Login: "you",
		Alone: true, Observer: n, Main: r.main, Held: true,
	})
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: interrupted; the same command goes on where it was", ErrUnresolved)
	case err != nil && !errors.Is(err, ErrUnresolved) && !errors.Is(err, ErrUnproven) && service.ExitCode(err) != 2:
		return fmt.Errorf("%w (the log of the services is %s)", err, log.Name())
	}
	return err
}

// issue reads the report from --issue, which is a file, an address or standard input.
func (c Command) issue(ctx context.Context, stdin io.Reader) (instance.Issue, error) {
	if strings.HasPrefix(c.Issue, "https://") || strings.HasPrefix(c.Issue, "http://") {
		return c.onForge(ctx)
	}
	text, err := os.ReadFile(c.Issue)
	if c.Issue == "-" {
		text, err = io.ReadAll(stdin)
	}
	if err != nil {
		return instance.Issue{}, err
	}
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		return report.ParseIssue(text)
	}
	return report.Parse(text)
}

// onForge reads the issue at the address --issue from the forge that serves its host.
func (c Command) onForge(ctx context.Context) (instance.Issue, error) {
	repo, host, number, err := report.Address(c.Issue)
	if err != nil {
		return instance.Issue{}, err
	}
	if !c.Forge.Serves(host) {
		return instance.Issue{}, fmt.Errorf("it is on %s, and the forge is %s: give its REST API with --forge-url", host, c.Forge.URL)
	}
	forge, err := c.Forge.Client()
	if err != nil {
		return instance.Issue{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, forgePatience)
	defer cancel()
	is, err := forge.Issue(ctx, repo, number)
	if err != nil {
		return instance.Issue{}, fmt.Errorf("%w; a private repository needs a token, with --forge-token-file or GITHUB_TOKEN", err)
	}
	return instance.Issue{Repo: repo, Number: number, Title: is.Title, Body: is.Body, Labels: is.Labels, Author: is.Author.Login, URL: c.Issue}, nil
}

// forgePatience is how long the forge may take to answer.
const forgePatience = 30 * time.Second

// definition returns the lifecycle. It returns an error if one of its roles has no
// brain: the run would stop there.
func (c Command) definition() (*workflow.Definition, error) {
	defs, err := allinone.Definitions(c.WorkflowDir)
	if err != nil {
		return nil, err
	}
	settings := c.Settings()
	settings.Document = pipelinerole.Document{}
	if err := settings.CheckBrains(allinone.ThinkingRoles(defs...), defs); err != nil {
		return nil, service.Usagef("%w", err)
	}
	def, err := workflow.NewCatalog(defs...).Named(c.Workflow)
	if err != nil {
		return nil, service.Usagef("%w", err)
	}
	for _, name := range allinone.BrainRoles(def) {
		if _, err := settings.Of(name); err != nil {
			return nil, err
		}
	}
	return def, nil
}

// dir returns the data directory: --data, or one for the repository in the user's
// state directory.
func (c Command) dir(ctx context.Context, s source) (string, error) {
	if c.Data != "" {
		return c.Data, nil
	}
	logs, err := allinone.ResolveDirs()
	if err != nil {
		return "", err
	}
	dir, root, err := ofRepository(ctx, s, filepath.Join(logs, s.key()))
	if err != nil || root == "" {
		return dir, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, rootFile), []byte(root+"\n"), 0o600)
}

// rootFile is the file of a data directory of resolve with the first commit of its repository.
const rootFile = "root-commit"

// ofRepository returns dir, or the directory next to it if dir belongs to another repository that was
// at the same path. root is the first commit of the repository if no file has it yet; of a shallow clone it is
// not known.
func ofRepository(ctx context.Context, s source, dir string) (of, root string, err error) {
	roots, err := s.git.Run(ctx, "rev-list", "--max-parents=0", "HEAD")
	shallow, shallowErr := s.git.Run(ctx, "rev-parse", "--is-shallow-repository")
	first, _, _ := strings.Cut(roots, "\n")
	if err != nil || shallowErr != nil || shallow == "true" || first == "" {
		return dir, "", nil
	}
	switch was, err := os.ReadFile(filepath.Join(dir, rootFile)); {
	case errors.Is(err, fs.ErrNotExist):
		return dir, first, nil
	case err != nil:
		return "", "", err
	case strings.TrimSpace(string(was)) != first:
		return dir + "-" + first[:12], "", nil
	}
	return dir, "", nil
}

// Kept returns the directory with the log of the runs without --data on the repository and the
// branch that are checked out in dir; "" if there is none.
func Kept(ctx context.Context, dir string) string {
	src, err := openRepository(ctx, dir, "")
	if err != nil {
		return ""
	}
	logs, err := allinone.ResolveDirs()
	kept := filepath.Join(logs, src.key())
	if _, no := os.Stat(kept); err != nil || no != nil {
		return ""
	}
	if kept, _, err = ofRepository(ctx, src, kept); err != nil {
		return ""
	}
	if _, err := os.Stat(kept); err != nil {
		return ""
	}
	return kept
}
