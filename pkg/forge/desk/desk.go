// Package desk is what a role that works with the forge works at: a client, its
// token, and copies of repositories.
package desk

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
)

// Settings is what such a role is told beside the common flags.
type Settings struct {
	Forge   github.Flags `embed:"" prefix:"forge-"`
	WorkDir string       `name:"work-dir" type:"path" default:"~/.cache/signalbox/work" help:"Where copies of repositories are kept."`

	Observer agent.Observer `kong:"-"`
}

// Desk is one role's.
type Desk struct {
	Forge     *github.Client
	Token     string
	Workspace *workspace.Cache
	JetStream jetstream.JetStream
}

// Open sets the desk of a role up on a host.
func (s Settings) Open(ctx context.Context, h *service.Host, name string) (Desk, error) {
	var d Desk
	var err error
	if d.Forge, err = s.Forge.Client(); err != nil {
		return d, err
	}
	if d.Token, err = s.Forge.Secret(); err != nil {
		return d, err
	}
	if d.JetStream, err = jetstream.New(h.NATS); err != nil {
		return d, err
	}
	objects, err := role.Bucket(ctx, d.JetStream)
	if err != nil {
		return d, err
	}
	if d.Workspace, err = workspace.New(workspace.Config{Dir: filepath.Join(s.WorkDir, name), Objects: objects}); err != nil {
		return d, fmt.Errorf("work directory: %w", err)
	}
	return d, nil
}

// Agent returns the agent of the role, whose handler works at the desk.
func (s Settings) Agent(h *service.Host, d Desk, name string, handler agent.Handler) *agent.Agent {
	return role.Agent(h, d.JetStream, name, handler, s.Observer)
}

// Wait waits a rate limit out, under the claim: all that such a role does needs
// the forge, and a fault more would change nothing. Other errors it lets be.
func Wait(ctx context.Context, job agent.Job, err error) {
	limit := new(forge.RateLimit)
	if !errors.As(err, &limit) || time.Until(limit.Until) <= 0 {
		return
	}
	job.Progress("waiting for the forge: %v", limit)
	select {
	case <-time.After(time.Until(limit.Until)):
	case <-ctx.Done():
	}
}

// Fault tells a forge that says no to the work from one that does not answer,
// or not us: a token that ran out, a right that was not given and a locked
// conversation are people's to mend, and nothing to give the work up for.
func Fault(err error) error {
	if errors.Is(err, forge.ErrUnavailable) || errors.Is(err, forge.ErrRateLimited) || errors.Is(err, forge.ErrDenied) {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return err
}

// Work is a handler's work with the forge's moods taken care of.
func Work(ctx context.Context, job agent.Job, work func(context.Context, agent.Job) (instance.Result, error)) (instance.Result, error) {
	r, err := work(ctx, job)
	Wait(ctx, job, err)
	return r, Fault(err)
}
