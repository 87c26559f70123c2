package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/report"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type openCommand struct {
	running
	Workflow string   `arg:"" help:"The lifecycle, such as issue."`
	ID       string   `name:"id" env:"-" help:"Name of the instance. Without it a gateway, if one runs, makes the issue on the forge and names the instance after it."`
	File     string   `name:"file" short:"f" env:"-" placeholder:"FILE" help:"The report in Markdown; its first heading is the title. - reads standard input."`
	From     string   `name:"from" env:"-" placeholder:"FILE" help:"The issue, as gh issue view N --json number,title,body,labels,url prints it: it is on the forge already. - reads standard input."`
	Title    string   `name:"title" short:"t" env:"-" help:"Title of the report, in place of the file's."`
	Label    []string `name:"label" short:"l" env:"-" sep:"none" help:"Label of the report, in addition to the file's; may be repeated."`
	Repo     string   `name:"repo" env:"-" placeholder:"OWNER/NAME" help:"Repository on the forge that the report is about."`
}

// Run opens an instance and prints its id.
func (c openCommand) Run(ctx context.Context, env *term.Env) error {
	issue, err := c.issue(env.Stdin)
	if err != nil {
		return err
	}
	if c.ID != "" {
		if err := subject.CheckInstance(c.ID); err != nil {
			return service.Usagef("--id: %w", err)
		}
	}
	whole := len(issue.Body)
	short, cut := report.Shorten(issue.Body, report.AtReporter)
	if issue.Body = short; cut {
		fmt.Fprintf(env.Stderr, "the report has %d bytes, and an issue has room for %d characters: only its beginning and its end are sent\n", whole,
			report.MaxBody)
	}
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		id, err := c.open(ctx, env, s, issue)
		if err != nil {
			return err
		}
		if !env.JSON {
			env.Printf("%s\n", id)
			return nil
		}
		in, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		return env.Print(view.Of(in))
	})
}

// issue returns the report of the flags.
func (c openCommand) issue(stdin io.Reader) (issue instance.Issue, err error) {
	if c.Repo != "" {
		if owner, name, ok := strings.Cut(c.Repo, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
			return issue, service.Usagef("--repo %s: want OWNER/NAME", c.Repo)
		}
	}
	if c.From != "" {
		return c.viewed(stdin)
	}
	switch c.File {
	case "":
		if strings.TrimSpace(c.Title) == "" {
			return issue, service.Usagef("a report is needed: --file FILE, or --title TEXT")
		}
	default:
		src, err := input(c.File, stdin)
		if err != nil {
			return issue, service.Usagef("--file: %w", err)
		}
		if issue, err = report.Parse(src); err != nil {
			return issue, service.Usagef("--file %s: %w", c.File, err)
		}
	}
	if c.Title != "" {
		issue.Title = c.Title
	}
	if n := utf8.RuneCountInString(issue.Title); n > report.MaxTitle {
		return issue, service.Usagef("--title: the title has %d characters, want at most %d: put the rest in the report", n, report.MaxTitle)
	}
	issue.Labels = append(issue.Labels, c.Label...)
	issue.Repo = c.Repo
	return issue, nil
}

// viewed parses the JSON of an issue that is on the forge.
func (c openCommand) viewed(stdin io.Reader) (issue instance.Issue, err error) {
	if c.File != "" || c.Title != "" || c.Repo != "" || len(c.Label) > 0 {
		return issue, service.Usagef("--from %s has the whole report: it goes with none of --file, --title, --label and --repo", c.From)
	}
	src, err := input(c.From, stdin)
	if err != nil {
		return issue, service.Usagef("--from: %w", err)
	}
	if issue, err = report.ParseIssue(src); err != nil {
		return issue, service.Usagef("--from %s: %w", c.From, err)
	}
	return issue, nil
}

// input reads a file, or standard input for "-", up to one byte more than a report may
// have.
func input(file string, stdin io.Reader) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	return io.ReadAll(io.LimitReader(stdin, report.MaxSize+1))
}

// open opens the instance. If a gateway runs, it creates the issue on the forge, which
// opens the instance. Otherwise the instance is in the log only.
func (c openCommand) open(ctx context.Context, env *term.Env, s system, issue instance.Issue) (string, error) {
	onForge := issue.Repo != "" && issue.Number > 0
	if c.ID == "" && !onForge {
		if _, err := s.Definition(ctx, c.Workflow); err != nil { // an unknown lifecycle must not leave an issue behind
			return "", err
		}
		id, err := c.onForge(ctx, s, issue)
		if err == nil {
			return id, c.asAsked(ctx, s, id)
		}
		if !errors.Is(err, nats.ErrNoResponders) {
			return "", err
		}
		if issue.Repo != "" {
			fmt.Fprintf(env.Stderr, "no gateway answers: there is no issue in %s for this\n", issue.Repo)
		}
	}
	id := c.ID
	switch {
	case id != "":
	case onForge: // the name that the gateway would use
		id = fmt.Sprintf("%s/%d", issue.Repo, issue.Number)
	default:
		id = instanceName(issue.Title)
	}
	if !onForge {
		issue.Number = 0 // there is no repository
	}
	var err error
	if issue.Config, err = s.configuredBy(ctx, env, issue.Repo); err != nil {
		return "", err
	}
	_, err = s.Open(ctx, "", c.Workflow, id, issue)
	return id, err
}

// onForge has the gateway create the issue and returns the instance.
func (c openCommand) onForge(ctx context.Context, s system, issue instance.Issue) (string, error) {
	ask, err := json.Marshal(map[string]any{
		"repo": issue.Repo, "title": issue.Title, "body": issue.Body, "labels": issue.Labels, "workflow": c.Workflow,
	})
	if err != nil {
		return "", err
	}
	msg, err := s.nats.RequestWithContext(ctx, subject.OpenIssue, ask)
	if errors.Is(err, context.DeadlineExceeded) {
		return "", errors.New("the gateway timed out; the issue may have been created: check `signalbox ls` before you open it again")
	}
	if err != nil {
		return "", err
	}
	if text := msg.Header.Get(micro.ErrorHeader); text != "" {
		return "", fmt.Errorf("the gateway refuses: %s", text)
	}
	var made struct{ Instance string }
	if err := json.Unmarshal(msg.Data, &made); err != nil || made.Instance == "" {
		return "", fmt.Errorf("the gateway's answer %.100q names no instance", msg.Data)
	}
	return made.Instance, nil
}

// asAsked returns an error if the gateway opened the instance with another lifecycle.
// A gateway opens all issues with one.
func (c openCommand) asAsked(ctx context.Context, s system, id string) error {
	in, err := s.Get(ctx, id)
	if err == nil && in.GetWorkflow() != c.Workflow {
		err = fmt.Errorf("the gateway opened %s, as %s: it opens nothing as %s; --id opens without it", id, in.GetWorkflow(), c.Workflow)
	}
	return err
}

// maxSlug is the most bytes of a title in an instance's name.
const maxSlug = 40

// instanceName returns a name for an instance: words of the title and six random letters.
func instanceName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	slug := ""
	for _, w := range words {
		if len(slug)+len(w) >= maxSlug {
			break
		}
		slug += w + "-"
	}
	return slug + strings.ToLower(rand.Text()[:6])
}
