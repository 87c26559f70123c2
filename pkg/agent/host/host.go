// Package host runs the agent of a role as a part of a process: its connection, its objects,
// and what hides credentials in its records. It has no brain.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/client"
	eventlog "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/service"
)

// Agent returns the agent of a role on a host, whose connection stays where a
// majority of the NATS servers is.
func Agent(h *service.Host, js jetstream.JetStream, role string, handler agent.Handler, secrets *secret.Scanner, o agent.Observer) *agent.Agent {
	h.AddBaseOnce("majority", func(ctx context.Context) error {
		return eventlog.StayWithMajority(ctx, js, eventlog.MajorityEvery, eventlog.MajorityOfQueue(role))
	})
	c := client.New(h.NATS, h.Name)
	answers := &orchestratorWatch{ask: func(ctx context.Context) error {
		_, err := c.Definition(ctx, "")
		return err
	}}
	answers.register(h.Metrics, role)
	h.Health.Warn("orchestrator", answers.check)
	h.AddBase("orchestrator", answers.run)
	return agent.New(agent.Config{
		Role: role, Name: h.Name, Program: service.ReadBuild().Version, Grace: h.Grace, JetStream: js, Client: c, Handler: handler,
		Log: h.Log, Secrets: secrets, Observer: agent.Observers{agent.NewMetrics(h.Metrics, role), o},
	})
}

// Secrets returns what finds credentials in what an agent records: those that look
// like one, and those of this process by their values, with more.
func Secrets(h *service.Host, more ...string) (*secret.Scanner, error) {
	s, err := secret.New()
	if err != nil {
		return nil, err
	}
	if h.NATS != nil {
		more = append(more, h.NATS.Opts.Password, h.NATS.Opts.Token)
	}
	return s.With(append(secret.Environment(os.Environ()), more...)...), nil
}

// Objects returns the objects as the agents of a host read and put them.
func Objects(h *service.Host) agent.Door { return agent.Door{Client: client.New(h.NATS, h.Name)} }

// Bucket waits for the object store, which the orchestrator makes, for those who may read
// and write all of it.
func Bucket(ctx context.Context, js jetstream.JetStream) (agent.Objects, error) {
	store, err := backoff.Retry(ctx, func() (eventlog.Objects, error) {
		return eventlog.OpenObjects(ctx, js, eventlog.ObjectBucket)
	}, backoff.WithMaxElapsedTime(0))
	if err != nil {
		err = errors.Join(fmt.Errorf("object store %s: %w", eventlog.ObjectBucket, err), context.Cause(ctx))
	}
	return agent.Objects{Store: store}, err
}
