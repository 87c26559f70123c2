package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// postRequested posts the comment that another service asks for, once.
func (h *handler) postRequested(ctx context.Context, w forgeside.CommentRequest) error {
	if err := h.gate.Repos.Check(w.Repo); err != nil {
		h.gate.Refuse("comment", err, "repo", w.Repo)
		return err
	}
	_, err := h.post(ctx, w.Instance, instance.Issue{Repo: w.Repo, Number: w.Number}, w.Key, w.Body)
	return err
}
