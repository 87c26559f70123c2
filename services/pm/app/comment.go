package app

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/outbound"
)

// post makes the comment unless it is there. If its text may not leave, post says so
// in its place: people have to know that there is something.
func (h *handler) post(ctx context.Context, name string, issue instance.Issue, key, body string) (forge.Comment, error) {
	on := struct {
		forge.Reader
		forge.Writer
	}{h.reader, h.writer}
	c, err := forge.Post(ctx, on, issue.Repo, issue.Number, rules.Marker(name, key), body)
	if no := new(outbound.Refusal); errors.As(err, &no) {
		return forge.Post(ctx, on, issue.Repo, issue.Number, rules.Marker(name, key), rules.Withheld(name, no.Strings()))
	}
	return c, err
}
