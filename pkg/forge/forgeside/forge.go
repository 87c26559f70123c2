package forgeside

import (
	"context"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// client is the adapter, under a name that no other package reaches.
type client = github.Client

// Forge is a forge to which only checked texts are sent, and only about the
// repositories of the list. Titles and messages of merges are made harmless before the
// check, so that it refuses them for their size or a credential only. All else is that of
// the adapter.
type Forge struct {
	*client
	checker *outbound.Checker
	repos   Repositories
	refused func(kind string, err error) // counts and logs; may be nil
}

// NewForge returns the forge of a service. refused is called with each text that was
// not sent; it may be nil.
func NewForge(c *github.Client, checker *outbound.Checker, repos Repositories, refused func(kind string, err error)) *Forge {
	return &Forge{c, checker, repos, refused}
}

// check returns a *outbound.Refusal if one of the texts may not leave, and
// ErrRepository if the repository is not in the list.
func (f *Forge) check(kind, repo string, texts ...outbound.Text) error {
	err := f.repos.Check(repo)
	for _, t := range texts {
		if err == nil {
			err = f.checker.Text(t)
		}
	}
	if err != nil && f.refused != nil {
		f.refused(kind, err)
	}
	return err
}

// CreateIssue implements forge.Writer.
func (f *Forge) CreateIssue(ctx context.Context, repo string, in forge.NewIssue) (forge.Issue, error) {
	in.Title = sanitize.Subject(in.Title)
	texts := append(labels(in.Labels), title("title of the issue", in.Title), outbound.Text{What: "issue", Body: in.Body})
	if err := f.check("issue", repo, texts...); err != nil {
		return forge.Issue{}, err
	}
	return f.client.CreateIssue(ctx, repo, in)
}

// CloseIssue implements forge.Closer.
func (f *Forge) CloseIssue(ctx context.Context, repo string, number int) error {
	if err := f.check("issue", repo); err != nil {
		return err
	}
	return f.client.CloseIssue(ctx, repo, number)
}

// Comment implements forge.Writer.
func (f *Forge) Comment(ctx context.Context, repo string, number int, body string) (forge.Comment, error) {
	if err := f.check("comment", repo, outbound.Text{What: "comment", Body: body}); err != nil {
		return forge.Comment{}, err
	}
	return f.client.Comment(ctx, repo, number, body)
}

// EditComment implements forge.Writer.
func (f *Forge) EditComment(ctx context.Context, repo string, id int64, body string) (forge.Comment, error) {
	if err := f.check("comment", repo, outbound.Text{What: "comment", Body: body}); err != nil {
		return forge.Comment{}, err
	}
	return f.client.EditComment(ctx, repo, id, body)
}

// WithdrawComment implements forge.Writer.
func (f *Forge) WithdrawComment(ctx context.Context, repo string, id int64) error {
	if err := f.check("comment", repo); err != nil {
		return err
	}
	return f.client.WithdrawComment(ctx, repo, id)
}

// AddLabels implements forge.Writer.
func (f *Forge) AddLabels(ctx context.Context, repo string, number int, names []string) error {
	if err := f.check("label", repo, labels(names)...); err != nil {
		return err
	}
	return f.client.AddLabels(ctx, repo, number, names)
}

// RemoveLabel implements forge.Writer.
func (f *Forge) RemoveLabel(ctx context.Context, repo string, number int, label string) error {
	if err := f.check("label", repo); err != nil {
		return err
	}
	return f.client.RemoveLabel(ctx, repo, number, label)
}

// CreatePullRequest implements forge.Writer. Its title and text repeat what others wrote,
// so credentials in them are redacted: nobody could give the work other words.
func (f *Forge) CreatePullRequest(ctx context.Context, repo string, in forge.NewPullRequest) (forge.PullRequest, error) {
	in.Title, in.Body = sanitize.Subject(f.checker.Redact(in.Title)), f.checker.Redact(in.Body)
	err := f.check("pull request", repo, title("title of the pull request", in.Title),
		outbound.Text{What: "pull request", Body: in.Body, Closes: in.Closes})
	if err != nil {
		return forge.PullRequest{}, err
	}
	return f.client.CreatePullRequest(ctx, repo, in)
}

// Reply implements forge.Responder.
func (f *Forge) Reply(ctx context.Context, repo string, number int, comment int64, body string) (forge.ReviewComment, error) {
	if err := f.check("reply", repo, outbound.Text{What: "reply", Body: body}); err != nil {
		return forge.ReviewComment{}, err
	}
	return f.client.Reply(ctx, repo, number, comment, body)
}

// PublishCheck implements forge.Publisher.
func (f *Forge) PublishCheck(ctx context.Context, repo string, id int64, run forge.NewCheckRun) (int64, error) {
	run.Title = sanitize.Subject(run.Title)
	texts := []outbound.Text{title("title of the check", run.Title), {What: "check", Body: run.Summary}}
	for _, a := range run.Annotations {
		texts = append(texts, outbound.Text{What: "annotation of the check", Body: a.Title + "\n" + a.Message})
	}
	if err := f.check("check", repo, texts...); err != nil {
		return 0, err
	}
	return f.client.PublishCheck(ctx, repo, id, run)
}

// Merge implements forge.Merger.
func (f *Forge) Merge(ctx context.Context, repo string, number int, in forge.Merge) (string, error) {
	in.Title, in.Body = sanitize.Subject(in.Title), sanitize.Message(in.Body)
	if err := f.check("merge", repo, title("title of the merge", in.Title),
		outbound.Text{What: "message of the merge", Body: in.Body, Plain: true}); err != nil {
		return "", err
	}
	return f.client.Merge(ctx, repo, number, in)
}

func title(what, s string) outbound.Text {
	return outbound.Text{What: what, Body: s, Line: true, Max: outbound.MaxTitle}
}

func labels(names []string) (texts []outbound.Text) {
	for _, name := range names {
		texts = append(texts, outbound.Text{What: "label", Body: name, Line: true, Max: outbound.MaxLabel})
	}
	return texts
}
