package app

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
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

// forward sends the comments on such an issue to its instance.
func (p *poller) forward(ctx context.Context, id string, issue forge.Issue, at cursor, next *cursor) error {
	self, err := p.reader.Self(ctx)
	if err != nil {
		return err
	}
	comments, err := p.reader.Comments(ctx, p.repo, issue.Number, at.from())
	if err != nil {
		return err
	}
	for _, c := range comments {
		if _, taken := at.Taken[c.ID]; taken || c.CreatedAt.Before(at.from()) || c.Author.Bot || c.Author.Login == self {
			continue
		}
		permission, counts, err := p.heard(ctx, issue, c.Author.Login, c.NodeID, c.UpdatedAt.After(c.CreatedAt))
		if err != nil {
			return err
		}
		ok := true
		if counts {
			c.Body, ok = spoken(p.grammar, c.Body)
		}
		if !ok {
			next.noteComment(c.ID, c.CreatedAt)
			continue
		}
		if !counts || rules.Remark(c.Body, self) {
			p.refuse("comment", c.Author.Login, fmt.Sprintf("%s: of the permission %s, or a remark", id, permission))
		} else if _, err := p.client.Signal(ctx, id, "commented", commentCommand(c, id), c.Author.Login,
			map[string]string{"body": c.Body, "url": c.URL, "permission": permission}); p.dropRefusal(id, err) != nil {
			return err
		}
		next.noteComment(c.ID, c.CreatedAt)
	}
	return nil
}
