package app

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// asksFor returns the instance about which the PM asks people on an issue of its own
// making; "" if the issue is an ordinary one.
func (p *poller) asksFor(ctx context.Context, issue forge.Issue) (id string, err error) {
	id, key, ok := rules.FindMarker(issue.Body)
	if !ok || key != rules.AsksPeople {
		return "", nil
	}
	self, err := p.reader.Self(ctx)
	if err != nil || issue.Author.Login != self {
		return "", err
	}
	return id, nil
}

// comments handles the comments on an issue since a time. asks is the instance about which
// the PM asks there, "" on an ordinary issue.
func (p *poller) comments(ctx context.Context, issue forge.Issue, asks string, since time.Time, at cursor, next *cursor) error {
	all, err := p.reader.Comments(ctx, p.repo, issue.Number, since)
	if err != nil {
		return err
	}
	for _, c := range all {
		if _, taken := at.Taken[c.ID]; taken || c.CreatedAt.Before(since) {
			continue // the latter is an edit
		}
		if err := p.comment(ctx, issue, asks, c, next); err != nil {
			return err
		}
		next.noteComment(c.ID, c.CreatedAt)
	}
	return nil
}

// comment handles a comment of a person. Comments of bots, also our own, are never signals.
func (p *poller) comment(ctx context.Context, issue forge.Issue, asks string, c forge.Comment, next *cursor) error {
	self, err := p.reader.Self(ctx)
	if err != nil {
		return err
	}
	if c.Author.Bot || c.Author.Login == self {
		p.warnOfOwn(issue, c, self)
		return nil
	}
	seen := change.Comment{Comment: c, Instance: asks, Own: asks == ""}
	seen.Permission, seen.Counts, err = p.heard(ctx, issue, c.Author.Login, c.NodeID, c.UpdatedAt.After(c.CreatedAt))
	if err != nil || !seen.Counts && seen.Own && !p.spend(next, "remark", c.Author.Login, seen.Permission) {
		return err
	}
	if seen.Own || seen.Counts { // after the permission: a stranger's text costs nothing until then
		var ok bool
		if seen.Body, ok = change.WithoutCommands(p.grammar, c.Body); !ok {
			return nil
		}
	}
	seen.Remark = seen.Counts && rules.Remark(seen.Body, self)
	switch {
	case !seen.Own && (!seen.Counts || seen.Remark):
		p.refuse("comment", c.Author.Login, fmt.Sprintf("%s: of the permission %s, or a remark", asks, seen.Permission))
		return nil
	case seen.Own:
		seen.Instance = Name(p.repo, issue.Number)
	}
	if !seen.Counts {
		p.refuse("comment", c.Author.Login, fmt.Sprintf("%s: %s has the permission %s, and comments need %s", seen.Instance, c.Author.Login,
			seen.Permission, p.intake.Hear))
	}
	if seen.Remark {
		in, err := p.client.Get(ctx, seen.Instance)
		if err != nil {
			return dropRefusal(p.log, seen.Instance, err)
		}
		_, asked := change.WaitingSince(in)
		seen.Waits = asked || in.GetKind() == string(workflow.Wait)
	}
	if _, err := send(ctx, p.client, p.log, seen); err != nil || !seen.Own || !seen.Counts || seen.Remark {
		return err
	}
	return p.signalWaiting(ctx, issue.Number, seen)
}

// signalWaiting sends a comment to those instances of the issue that have other names,
// such as stories of a plan, and wait for people.
func (p *poller) signalWaiting(ctx context.Context, issue int, seen change.Comment) error {
	held, err := p.client.List(ctx, &pb.ListRequest{Escalated: true})
	if err != nil {
		return err
	}
	own := seen.Instance
	for _, line := range held {
		if line.GetInstance() == own {
			continue
		}
		in, err := p.client.Get(ctx, line.GetInstance())
		if err := dropRefusal(p.log, line.GetInstance(), err); err != nil {
			return err
		}
		since, asked := change.WaitingSince(in)
		if in.GetIssue().GetRepo() != p.repo || int(in.GetIssue().GetNumber()) != issue || !asked || seen.CreatedAt.Before(since) {
			continue
		}
		seen.Instance, seen.Own = line.GetInstance(), false
		if _, err := send(ctx, p.client, p.log, seen); err != nil {
			return err
		}
	}
	return nil
}

// warnOfOwn says once that people are not heard who write with the account of the token.
func (p *poller) warnOfOwn(issue forge.Issue, c forge.Comment, self string) {
	_, _, ours := rules.FindMarker(c.Body)
	if c.Author.Login != self || c.Author.Bot || ours {
		return
	}
	p.told.Do(func() {
		p.log.Warn("comments of the token's own account are ignored: give the gateway a GitHub App, or the token of an account of its own",
			"account", self, "instance", Name(p.repo, issue.Number), "url", c.URL)
	})
}
