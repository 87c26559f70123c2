package resolve

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/app"
	"github.com/signalbox/signalbox/services/signalbox/box"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// run is one resolve under way.
type run struct {
	env     *term.Env
	n       *narrator.Narrator
	source  source
	issue   instance.Issue
	answers []byte // not used yet
	dir     string

	box    *box.Box
	forge  *github.Client // as the person at this machine
	client *client.Client
	number int
	after  uint64 // sequence up to which the story was told by an earlier run
	waits  bool   // that run ended waiting for answers
}

func (r *run) main(ctx context.Context, b *box.Box) error {
	var err error
	r.box, r.client = b, client.New(b.NATS, r.env.User)
	if r.forge, err = github.New(github.Config{BaseURL: b.Forge.API(), Token: b.Forge.Secret}); err != nil {
		return err
	}
	at, err := r.forge.Repository(ctx, r.source.name)
	if err != nil {
		return err
	}
	if err := r.source.give(ctx, at.CloneURL, b.Forge.Secret); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	waits, err := r.follow(ctx)
	if err != nil {
		return err
	}
	return r.finish(ctx, at, waits)
}

// begin takes up the issue: the one an earlier run left open, or a new one.
func (r *run) begin(ctx context.Context) error {
	open, err := r.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	for _, in := range open {
		prefix, number, _ := cutLast(in.GetInstance())
		if prefix != r.source.name || in.GetTitle() != r.issue.Title {
			continue
		}
		whole, err := r.client.Get(ctx, in.GetInstance())
		if err != nil {
			return err
		}
		if why := stale(whole, r.issue); why != "" {
			r.n.Say("starting anew: %s", why)
			if _, err := r.client.Cancel(ctx, in.GetInstance(), "resolve starts anew: "+why); err != nil {
				return err
			}
			continue
		}
		r.number, r.after, r.waits = number, whole.GetSeq(), whole.GetKind() == string(workflow.Wait)
		r.n.Say("going on with %s, in %s", in.GetInstance(), in.GetState())
		if whole.GetPaused() {
			_, err = r.client.Resume(ctx, in.GetInstance(), "resolve was called again")
		}
		return err
	}
	if r.answers != nil {
		return fmt.Errorf("%w: --answers continues a run that waits, and none of %q does", ErrUnresolved, r.issue.Title)
	}
	made, err := r.forge.CreateIssue(ctx, r.source.name, forge.NewIssue{Title: r.issue.Title, Body: r.issue.Body, Labels: r.issue.Labels})
	r.number = made.Number
	return err
}

// stale says why the instance of an earlier run is not what is asked for now.
func stale(in *pb.Instance, now instance.Issue) string {
	switch {
	case strings.TrimSpace(in.GetIssue().GetBody()) != strings.TrimSpace(now.Body):
		return "the report has changed"
	case in.GetKind() == string(workflow.Wait) && len(openQuestions(in)) == 0:
		return "the earlier run came to a stop without a question"
	}
	return ""
}

func cutLast(id string) (string, int, bool) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(id[i+1:])
	return id[:i], n, err == nil
}

// id is the instance.
func (r *run) id() string { return app.Name(r.source.name, r.number) }

// follow narrates until the instance ends, or waits for answers nobody here
// can give; then waits is true.
func (r *run) follow(ctx context.Context) (waits bool, err error) {
	if r.waits {
		if answered, err := r.answer(ctx); err != nil || !answered {
			return true, err
		}
	}
	err = r.client.Watch(ctx, r.id(), r.after, func(seen client.Seen) error {
		r.n.Commit(seen)
		for _, e := range seen.Events {
			if _, ok := e.(instance.Paused); ok {
				return client.ErrDone
			}
			moved, ok := e.(instance.Moved)
			if !ok {
				continue
			}
			switch moved.Kind {
			case workflow.Final:
				return client.ErrDone
			case workflow.Wait:
				answered, err := r.answer(ctx)
				if err != nil {
					return err
				}
				if !answered {
					waits = true
					return client.ErrDone
				}
			}
		}
		return nil
	})
	return waits, err
}

// answer gives what answers there are: the file's once, then the person's.
func (r *run) answer(ctx context.Context) (bool, error) {
	if r.answers != nil {
		_, err := r.forge.Comment(ctx, r.source.name, r.number, string(r.answers))
		r.answers = nil
		return true, err
	}
	if !r.env.Person {
		return false, nil
	}
	in, err := r.client.Get(ctx, r.id())
	if err != nil {
		return false, err
	}
	var body strings.Builder
	for _, q := range openQuestions(in) {
		fmt.Fprintf(r.env.Stderr, "\nQ%d: %s\n> ", q.GetNumber(), plain(q.GetText()))
		text, err := r.env.ReadLine(ctx)
		if err != nil {
			return false, err
		}
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&body, "Q%d: %s\n\n", q.GetNumber(), text)
		}
	}
	if body.Len() == 0 {
		return false, nil
	}
	_, err = r.forge.Comment(ctx, r.source.name, r.number, body.String())
	return true, err
}

// plain is a question without the emphasis that only a forge shows.
func plain(text string) string { return strings.ReplaceAll(text, "**", "") }

func openQuestions(in *pb.Instance) []*pb.Question {
	var open []*pb.Question
	for _, q := range in.GetQuestions() {
		if !q.GetAnswered() {
			open = append(open, q)
		}
	}
	return open
}

// finish brings the branch home and says how it ended.
func (r *run) finish(ctx context.Context, at forge.Repository, waits bool) error {
	in, err := r.client.Get(ctx, r.id())
	if err != nil {
		return err
	}
	out := outcome(in, r.source)
	if questions := openQuestions(in); waits && len(questions) > 0 {
		r.n.Say("\nit waits for answers; give them with --answers FILE, one line a question (Q1: …):\n")
		for _, q := range questions {
			r.n.Say("Q%d: %s", q.GetNumber(), plain(q.GetText()))
		}
		return errors.Join(fmt.Errorf("%w: %s waits in %s", ErrUnresolved, r.id(), in.GetState()), r.print(out, ""))
	}
	branch := in.GetLastResult().GetData()["branch"]
	if in.GetLastResult().GetData()["pr_url"] == "" {
		r.n.Say("\n%s\n\nsignalbox history %s --data %s   tells it all", term.Text(in.GetLastResult().GetSummary()), r.id(), r.dir)
		how := "ended in"
		if in.GetClosed() == "" {
			how = "came to a stop in"
		}
		return errors.Join(fmt.Errorf("%w: %s %s %s: %s", ErrUnresolved, r.id(), how, in.GetState(), in.GetReason()), r.print(out, ""))
	}
	if out.Branch, err = r.source.take(ctx, at.CloneURL, r.box.Forge.Secret, branch, in.GetHead()); err != nil {
		return err
	}
	pr, err := r.forge.PullRequestByHead(ctx, r.source.name, branch)
	if err != nil {
		return err
	}
	if out.Commits, err = r.source.commits(ctx, out.Branch); err != nil {
		return err
	}
	r.n.Say("\nbranch %s is in %s, based on %s; the log is in %s", out.Branch, r.source.dir, r.source.branch, r.dir)
	return r.print(out, "# "+pr.Title+"\n\n"+pr.Body)
}

func (r *run) print(out Outcome, description string) error {
	if r.env.JSON {
		return r.env.Print(out)
	}
	if description != "" {
		r.env.Printf("%s\n", exported(description, r.number))
	}
	return nil
}

// exported is the description without what only means something on the local
// forge: its issue's number, and the marker.
func exported(text string, number int) string {
	text, _, _ = strings.Cut(text, "\n<!-- signalbox ")
	return strings.TrimSpace(strings.Replace(text, fmt.Sprintf("Closes #%d.\n\n", number), "", 1))
}
