package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// poller turns what changed on the forge into commands: a new issue opens an
// instance, a new comment of a person is a signal.
type poller struct {
	reader   forge.Reader
	client   *client.Client
	cursors  cursors
	repo     string
	workflow string
	label    string // only issues that carry it; empty: all
	log      *slog.Logger

	// making is held while an issue is made and opened here, so that the poll
	// does not open it first, with another lifecycle.
	making sync.Mutex
}

// Name is the instance of an issue.
func Name(repo string, number int) string { return repo + "/" + strconv.Itoa(number) }

func (p *poller) about() (string, *slog.Logger) { return p.repo, p.log }

// poll takes everything that changed since the cursor. It may repeat what was
// taken before, under the same command ids, and so does no harm.
func (p *poller) poll(ctx context.Context) error {
	at, err := p.cursors.load(ctx, p.repo)
	if err != nil {
		return err
	}
	issues, err := p.reader.Issues(ctx, p.repo, at.Since)
	if err != nil {
		return err
	}
	next := at.clone()
	for _, issue := range issues {
		next.reached(issue.UpdatedAt)
		if p.label != "" && !slices.Contains(issue.Labels, p.label) {
			continue
		}
		since := at.Since
		if opened, err := p.takeUp(ctx, issue); err != nil {
			return err
		} else if opened {
			since = time.Time{} // it may have been discussed before it got its label
		}
		comments, err := p.reader.Comments(ctx, p.repo, issue.Number, since)
		if err != nil {
			return err
		}
		for _, c := range comments {
			if _, taken := at.Taken[c.ID]; taken || c.CreatedAt.Before(since) {
				continue // the latter is an edit
			}
			if err := p.signal(ctx, issue, c); err != nil {
				return err
			}
			next.took(c.ID, c.CreatedAt)
		}
	}
	if next.forget(); next.equal(at) {
		return nil
	}
	return p.cursors.save(ctx, p.repo, next)
}

// takeUp opens an issue that was found, unless its instance is there, and
// reports whether it did. One that is being made here is opened by its maker.
func (p *poller) takeUp(ctx context.Context, issue forge.Issue) (opened bool, err error) {
	p.making.Lock()
	defer p.making.Unlock()
	workflow, err := p.wanted(ctx, issue)
	if err != nil {
		return false, err
	}
	opened, err = p.open(ctx, issue, workflow)
	if errors.Is(err, &instance.Refusal{Code: instance.CodeExists}) {
		return false, nil
	}
	return opened, p.taken(Name(p.repo, issue.Number), err)
}

// open opens the issue's instance; opened is false if this did it before.
func (p *poller) open(ctx context.Context, issue forge.Issue, workflow string) (opened bool, err error) {
	name := Name(p.repo, issue.Number)
	reply, err := p.client.Open(ctx, "open/"+issue.NodeID, workflow, name, instance.Issue{
		Repo: p.repo, Number: issue.Number, Title: issue.Title, Body: issue.Body, Labels: issue.Labels, Author: issue.Author.Login, URL: issue.URL,
	})
	if err != nil || reply.GetDuplicate() {
		return false, err
	}
	p.log.Info("issue taken up", "instance", name, "title", issue.Title)
	return true, nil
}

// signal passes a person's comment on. What a bot says, ourselves included,
// never moves anything.
func (p *poller) signal(ctx context.Context, issue forge.Issue, c forge.Comment) error {
	self, err := p.reader.Self(ctx)
	if err != nil {
		return err
	}
	if c.Author.Bot || c.Author.Login == self {
		return nil
	}
	permission, err := p.reader.Permission(ctx, p.repo, c.Author.Login)
	if err != nil && !errors.Is(err, forge.ErrNotFound) {
		return err
	}
	name := Name(p.repo, issue.Number)
	said := map[string]string{"body": c.Body, "url": c.URL, "permission": permission}
	_, err = p.client.Signal(ctx, name, "commented", fmt.Sprintf("comment/%d", c.ID), c.Author.Login, said)
	return errors.Join(p.taken(name, err), p.others(ctx, issue.Number, c, said))
}

// others passes a comment on to the instances of the issue that have names of
// their own, such as stories of a plan, and wait for people's word.
func (p *poller) others(ctx context.Context, issue int, c forge.Comment, said map[string]string) error {
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
			if err := p.taken(id, err); err != nil {
				return err
			}
			continue
		}
		since, asked := asked(in)
		if in.GetIssue().GetRepo() != p.repo || int(in.GetIssue().GetNumber()) != issue || !asked || c.CreatedAt.Before(since) {
			continue
		}
		_, err = p.client.Signal(ctx, id, "commented", heard(c, id), c.Author.Login, said)
		if err := p.taken(id, err); err != nil {
			return err
		}
	}
	return nil
}

// taken drops a refusal that will not change by asking again, after saying so.
func (p *poller) taken(name string, err error) error {
	if no := (*instance.Refusal)(nil); errors.As(err, &no) {
		p.log.Warn("refused", "instance", name, "error", err)
		return nil
	}
	return err
}
