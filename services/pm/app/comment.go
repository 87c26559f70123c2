package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
)

// post makes the comment unless it is there.
func (h *handler) post(ctx context.Context, name string, issue instance.Issue, key, body string) (forge.Comment, error) {
	on := struct {
		forge.Reader
		forge.Writer
	}{h.reader, h.writer}
	return forge.Post(ctx, on, issue.Repo, issue.Number, rules.Marker(name, key), body)
}
