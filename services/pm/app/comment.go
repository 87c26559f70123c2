package app

import (
	"context"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
)

// post makes the comment unless it is there: our own, with the key's marker.
// The marker alone is no identity; anybody could have copied it.
func (b *bridge) post(ctx context.Context, name string, issue instance.Issue, key, body string) (forge.Comment, error) {
	marker := rules.Marker(name, key)
	self, err := b.reader.Self(ctx)
	if err != nil {
		return forge.Comment{}, err
	}
	comments, err := b.reader.Comments(ctx, issue.Repo, issue.Number, time.Time{})
	if err != nil {
		return forge.Comment{}, err
	}
	for _, c := range comments {
		if c.Author.Login == self && strings.Contains(c.Body, marker) {
			return c, nil
		}
	}
	return b.writer.Comment(ctx, issue.Repo, issue.Number, body+"\n\n"+marker)
}
