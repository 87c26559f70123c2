package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// poller turns changes on the forge into commands: a new issue opens an instance, a new
// comment of a person is a signal.
type poller struct {
	reader   forge.Reader
	client   *client.Client
	cursors  cursors
	repo     string
	workflow string
	label    string // only issues that carry it; empty: all
	all      bool   // also those that were open before the first poll
	intake   Intake
	grammar  command.Grammar        // of commands, which are neither answers nor remarks
	refused  *prometheus.CounterVec // nil: nothing is counted
	log      *slog.Logger

	permissions *permissions
	configs     *configurations // nil: repositories have none
	wrong       *tellings       // nil: no comment about a wrong configuration
	readings    readings        // of polls
	told        sync.Once

	// turn is held by a poll, and shared by what looks at single issues.
	turn sync.RWMutex
	// saving is locked while look adds to the cursor, to recent or to compared.
	saving sync.Mutex
	recent []int64 // the comments that look has handled of late
	// compared is when the issues were changed whose text was last held against their instances'.
	compared map[int]time.Time
	waiting  map[int]bool   // issues whose work waits for other issues
	unheeded map[int]string // the comments on named issues that hold nothing
	say      sayer          // nil: no comment

	// creating is locked while create creates an issue and opens its instance, so that the
	// poll does not open it first, with another lifecycle.
	creating sync.Mutex
	taken    map[int]bool // issues that have an instance: what was taken up stays so
}

// Name returns the name of the instance of an issue.
func Name(repo string, number int) string { return repo + "/" + strconv.Itoa(number) }

func (p *poller) about() (string, *slog.Logger) { return p.repo, p.log }

// poll handles all changes since the cursor. It may repeat commands of an earlier poll;
// they have the same ids, so the orchestrator carries them out once.
func (p *poller) poll(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	at, err := p.cursors.load(ctx, p.repo)
	if err != nil {
		return err
	}
	issues, err := p.reader.Issues(ctx, p.repo, at.from())
	if err != nil {
		return err
	}
	next := at.clone()
	p.begin(&next, issues)
	if p.readings == nil {
		p.readings = readings{}
	}
	at.settled = p.readings.settle(issues, p.permissions.now())
	for _, issue := range issues {
		next.advance(issue.UpdatedAt)
		if err := p.row(ctx, issue, at, &next); err != nil {
			return err
		}
	}
	if next.prune(); next.equal(at) {
		return nil
	}
	return p.cursors.save(ctx, p.repo, next)
}

// row handles one open issue as it is now, and the comments on it since the cursor.
func (p *poller) row(ctx context.Context, issue forge.Issue, at cursor, next *cursor) error {
	if id, err := p.asksFor(ctx, issue); err != nil {
		return err
	} else if id != "" {
		return p.forward(ctx, id, issue, at, next)
	}
	if p.label != "" && !hasLabel(issue, p.label) {
		return nil
	}
	since := at.from()
	opened, taken, err := p.takeUp(ctx, issue, next)
	switch {
	case err != nil || !taken:
		return err
	case opened:
		since = time.Time{} // it may have been discussed before it got its label
		if err := p.depend(ctx, issue); err != nil {
			return err
		}
	default:
		if err := errors.Join(p.reopen(ctx, issue), p.hold(ctx, issue), p.depend(ctx, issue), p.edited(ctx, issue, next)); err != nil {
			return err
		}
		if at.settled[issue.Number] {
			return nil
		}
	}
	comments, err := p.reader.Comments(ctx, p.repo, issue.Number, since)
	if err != nil {
		return err
	}
	for _, c := range comments {
		if _, taken := at.Taken[c.ID]; taken || c.CreatedAt.Before(since) {
			continue // the latter is an edit
		}
		if err := p.signal(ctx, issue, c, next); err != nil {
			return err
		}
		next.noteComment(c.ID, c.CreatedAt)
	}
	return nil
}

// takeUp opens an instance for the issue, unless there is one, and reports whether it did.
// taken is false if the issue has no instance because of who reported it. It leaves an
// issue that create is creating to create.
func (p *poller) takeUp(ctx context.Context, issue forge.Issue, next *cursor) (opened, taken bool, err error) {
	p.creating.Lock()
	defer p.creating.Unlock()
	if p.taken[issue.Number] {
		return false, true, nil
	}
	defer func() {
		if err == nil && taken {
			if p.taken == nil {
				p.taken = map[int]bool{}
			}
			p.taken[issue.Number] = true
		}
	}()
	name := Name(p.repo, issue.Number)
	admitted, err := p.admit(ctx, issue)
	if err != nil {
		return false, false, err
	}
	if !instance.MayWrite(admitted.permission) {
		// An issue that was taken up stays so, whatever became of its author or its label.
		if _, err := p.client.Get(ctx, name); err == nil {
			return false, true, nil
		}
	}
	if p.held(issue) {
		if taken, err = p.opened(ctx, name); err == nil && !taken {
			p.refuse("held", issue.Author.Login, name+": it has the label "+p.intake.Hold)
		}
		return false, taken, err
	}
	if admitted.refused == "" && p.isOld(*next, issue) {
		_, err := p.client.Get(ctx, name)
		return false, err == nil, nil
	}
	if admitted.refused != "" {
		p.refuse("issue", issue.Author.Login, name+": "+admitted.refused)
		return false, false, nil
	}
	config, err := p.configs.current(ctx)
	if err != nil {
		return false, false, err
	}
	if why := config.refuses(issue); why != "" {
		_, err := p.client.Get(ctx, name)
		if err != nil && config.never {
			p.refuse("configuration", issue.Author.Login, name+": "+why)
		}
		return false, err == nil, nil
	}
	if !p.spend(next, "issue", issue.Author.Login, admitted.permission) {
		return false, false, nil
	}
	workflow, err := p.workflowOf(ctx, issue, cmp.Or(config.Lifecycle, p.workflow))
	if err != nil {
		return false, false, err
	}
	opened, err = p.open(ctx, issue, workflow, admitted, config)
	if errors.Is(err, &instance.Refusal{Code: instance.CodeExists}) {
		return false, true, nil
	}
	return opened, true, p.dropRefusal(name, err)
}

// open opens the issue's instance. It returns false if there was one.
func (p *poller) open(ctx context.Context, issue forge.Issue, workflow string, by admission, config inForce) (opened bool, err error) {
	name := Name(p.repo, issue.Number)
	reply, err := p.client.Open(ctx, "open/"+issue.NodeID, workflow, name, instance.Issue{
		Repo: p.repo, Number: issue.Number, Title: issue.Title, Body: issue.Body, Labels: issue.Labels, Author: issue.Author.Login,
		URL:        issue.URL,
		Permission: by.permission, AdmittedBy: by.by, Config: config.of(config.problem),
	})
	if err != nil || reply.GetDuplicate() {
		return false, err
	}
	if config.problem != "" {
		p.tell(ctx, issue.Number, name, config)
	}
	p.log.Info("issue taken up", "instance", name, "title", issue.Title, "author", issue.Author.Login, "permission", by.permission,
		"admitted_by", by.by)
	return true, nil
}

// signal sends a person's comment as a signal. Comments of bots, also our own, are never
// signals. Those of people who are not heard are remarks.
func (p *poller) signal(ctx context.Context, issue forge.Issue, c forge.Comment, next *cursor) error {
	self, err := p.reader.Self(ctx)
	if err != nil {
		return err
	}
	if c.Author.Bot || c.Author.Login == self {
		p.tellOwn(issue, c, self)
		return nil
	}
	permission, counts, err := p.heard(ctx, issue, c.Author.Login, c.NodeID, c.UpdatedAt.After(c.CreatedAt))
	if err != nil || !counts && !p.spend(next, "remark", c.Author.Login, permission) {
		return err
	}
	var ok bool
	if c.Body, ok = spoken(p.grammar, c.Body); !ok { // after the permission: a stranger's text costs nothing until then
		return nil
	}
	name := Name(p.repo, issue.Number)
	said := map[string]string{"body": c.Body, "url": c.URL, "permission": permission}
	if !counts {
		why := fmt.Sprintf("%s: %s has the permission %s, and being heard takes %s", name, c.Author.Login, permission, p.intake.Hear)
		p.refuse("comment", c.Author.Login, why)
		_, err = p.client.Signal(ctx, name, instance.Remarked, fmt.Sprintf("comment/%d", c.ID), c.Author.Login, said)
		return p.dropRefusal(name, err)
	}
	if rules.Remark(c.Body, self) {
		kind, err := p.remarkTo(ctx, name)
		if err == nil {
			_, err = p.client.Signal(ctx, name, kind, fmt.Sprintf("comment/%d", c.ID), c.Author.Login, said)
		}
		return p.dropRefusal(name, err)
	}
	_, err = p.client.Signal(ctx, name, "commented", fmt.Sprintf("comment/%d", c.ID), c.Author.Login, said)
	return errors.Join(p.dropRefusal(name, err), p.signalWaiting(ctx, issue.Number, c, said))
}

// remarkTo returns the signal of a comment that answers nothing: while the instance waits
// for people it is a remark. At other times it is one more thing that was said.
func (p *poller) remarkTo(ctx context.Context, name string) (kind string, err error) {
	in, err := p.client.Get(ctx, name)
	if err != nil {
		return "", err
	}
	if _, asked := waitingSince(in); asked || in.GetKind() == string(workflow.Wait) {
		return instance.Remarked, nil
	}
	return "commented", nil
}

// signalWaiting sends a comment to those instances of the issue that have other names,
// such as stories of a plan, and wait for people.
func (p *poller) signalWaiting(ctx context.Context, issue int, c forge.Comment, said map[string]string) error {
	held, err := p.client.List(ctx, &pb.ListRequest{Escalated: true})
	if err != nil {
		return err
	}
	for _, line := range held {
		id := line.GetInstance()
		if id == Name(p.repo, issue) {
			continue
		}
		in, err := p.client.Get(ctx, id)
		if err != nil {
			if err := p.dropRefusal(id, err); err != nil {
				return err
			}
			continue
		}
		since, asked := waitingSince(in)
		if in.GetIssue().GetRepo() != p.repo || int(in.GetIssue().GetNumber()) != issue || !asked || c.CreatedAt.Before(since) {
			continue
		}
		_, err = p.client.Signal(ctx, id, "commented", commentCommand(c, id), c.Author.Login, said)
		if err := p.dropRefusal(id, err); err != nil {
			return err
		}
	}
	return nil
}

// dropRefusal logs and drops a refusal that a repetition would not change.
func (p *poller) dropRefusal(name string, err error) error {
	if no := (*instance.Refusal)(nil); errors.As(err, &no) {
		p.log.Warn("refused", "instance", name, "error", err)
		return nil
	}
	return err
}

// tellOwn says once that people are not heard who write with the account of the token.
func (p *poller) tellOwn(issue forge.Issue, c forge.Comment, self string) {
	_, _, ours := rules.FindMarker(c.Body)
	if c.Author.Login != self || c.Author.Bot || ours {
		return
	}
	p.told.Do(func() {
		p.log.Warn("comments of the token's own account are not heard: give the gateway a GitHub App, or the token of an account of its own",
			"account", self, "instance", Name(p.repo, issue.Number), "url", c.URL)
	})
}
