package app

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// repository is all that watches one repository.
type repository struct {
	issues *poller
	closed *closings
	pulls  *pulls
	obeys  *commander
}

// look handles what changed of an issue or a pull request, and the commands in what was
// said on it. A person waits for it.
func (r repository) look(ctx context.Context, i change.Item, since time.Time, commands bool) error {
	ctx = forge.WithUrgency(ctx, forge.Urgent)
	err := r.change(ctx, i, since)
	if commands && r.obeys != nil {
		err = errors.Join(err, r.obeys.commandsOn(ctx, i.Number, since))
	}
	return err
}

// facts handles facts that no issue or pull request shows.
func (r repository) facts(ctx context.Context, facts []change.Fact) error {
	return r.pulls.learn(forge.WithUrgency(ctx, forge.Urgent), facts)
}

// change handles what changed of an issue or a pull request.
func (r repository) change(ctx context.Context, i change.Item, since time.Time) error {
	if i.Pull {
		err := r.pulls.lookAtPull(ctx, i.Number)
		if i.Reopened {
			err = errors.Join(err, r.pulls.openAgain(ctx, i.Number))
		}
		return errors.Join(err, r.issues.follow(ctx))
	}
	issue, err := r.issues.reader.Issue(ctx, r.issues.repo, i.Number)
	switch {
	case errors.Is(err, forge.ErrNotFound) && i.Gone:
		return r.closed.gone(ctx, i.Number)
	case errors.Is(err, forge.ErrNotFound):
		return nil // it may be hidden only
	case err != nil:
		return err
	}
	if issue.State == "closed" {
		return errors.Join(r.closed.lookAtClosed(ctx, issue), r.issues.follow(ctx))
	}
	return r.issues.lookAtIssue(ctx, issue, since)
}
