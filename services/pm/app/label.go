package app

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// labelOf is the label of a phase, "" for none.
func labelOf(p rules.Phase) string {
	if p == rules.Cancelled {
		return ""
	}
	return rules.LabelPrefix + string(p)
}

// label has the issue carry this label of ours and no other of ours, "" for none. It
// leaves all other labels.
func (s *statuses) label(ctx context.Context, of instance.Issue, want string) error {
	issue, err := s.reader.Issue(ctx, of.Repo, of.Number)
	if err != nil {
		return err
	}
	for _, p := range []rules.Phase{rules.Working, rules.Waiting, rules.Done, rules.Failed} {
		if name := labelOf(p); name != want && slices.Contains(issue.Labels, name) {
			if err := s.writer.RemoveLabel(ctx, of.Repo, of.Number, name); err != nil && !errors.Is(err, forge.ErrNotFound) {
				return err
			}
		}
	}
	if want == "" || slices.Contains(issue.Labels, want) {
		return nil
	}
	return s.writer.AddLabels(ctx, of.Repo, of.Number, []string{want})
}
