package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
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

// lockedText is in what a forge says when it refuses a comment because the conversation
// is locked.
const lockedText = "issue is locked"

// hold pauses the instance of an issue that has the label, and resumes it when that is
// taken off. It resumes one that was paused because nothing can be said on a locked issue,
// once it is unlocked. Instances that people paused stay paused.
func (p *poller) hold(ctx context.Context, issue forge.Issue) error {
	name, reason := Name(p.repo, issue.Number), "the issue has the label "+p.intake.Hold
	in, err := p.client.Get(ctx, name)
	silenced := strings.Contains(in.GetReason(), fmt.Sprintf("%s#%d:", p.repo, issue.Number)) && strings.Contains(in.GetReason(), lockedText)
	switch {
	case err != nil:
		return p.dropRefusal(name, err)
	case in.GetClosed() != "":
		return nil
	case p.held(issue):
		if !in.GetPaused() {
			_, err = p.client.Pause(ctx, name, reason)
		}
	case in.GetPaused() && p.intake.Hold != "" && in.GetReason() == reason:
		_, err = p.client.Resume(ctx, name, "the label "+p.intake.Hold+" was taken off")
	case in.GetPaused() && silenced && !issue.Locked:
		_, err = p.client.Resume(ctx, name, "the conversation is no longer locked")
	}
	return p.dropRefusal(name, err)
}
