package app

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
)

// held reports whether an issue has the label that holds work on it.
func (p *poller) held(issue forge.Issue) bool {
	return p.intake.Hold != "" && hasLabel(issue, p.intake.Hold)
}

// opened reports whether the orchestrator knows an instance.
func (p *poller) opened(ctx context.Context, name string) (bool, error) {
	_, err := p.client.Get(ctx, name)
	if errors.As(err, new(*instance.Refusal)) {
		return false, nil
	}
	return err == nil, err
}

// hold pauses the instance of an issue that has the label, and resumes it when that is
// taken off. What people paused stays paused.
func (p *poller) hold(ctx context.Context, issue forge.Issue) error {
	if p.intake.Hold == "" {
		return nil
	}
	name, reason := Name(p.repo, issue.Number), "the issue has the label "+p.intake.Hold
	in, err := p.client.Get(ctx, name)
	switch {
	case err != nil:
		return p.dropRefusal(name, err)
	case in.GetClosed() != "":
		return nil
	case p.held(issue) && !in.GetPaused():
		_, err = p.client.Pause(ctx, name, reason)
	case !p.held(issue) && in.GetPaused() && in.GetReason() == reason:
		_, err = p.client.Resume(ctx, name, "the label "+p.intake.Hold+" was taken off")
	}
	return p.dropRefusal(name, err)
}
