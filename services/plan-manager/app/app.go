// Package app is the plan-manager: it logs and counts deadlines of tasks that
// pass, and answers the five queries of the task lifecycle. It moves nothing: the
// timers are the orchestrator's.
package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// App is the plan-manager's flags.
type App struct {
	service.Flags
	Settings
}

// Settings configures the plan-manager, in addition to the common flags.
type Settings struct {
	Workflow string `name:"workflow" default:"task" help:"Lifecycle whose instances are the tasks."`
}

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "plan-manager", About: "Watches the timeouts of tasks and answers questions about them.", Program: &App{}}
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the plan-manager to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	entry, err := access.FindEntry(ctx, h.NATS)
	if err != nil {
		return err
	}
	late := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_task_deadlines_total", Help: "Deadlines of tasks that passed, by state and level: warning, alert, escalation.",
	}, []string{"state", "level"})
	h.Metrics.MustRegister(late)
	c := client.New(h.NATS, "plan-manager")
	q := queries{c, s.Workflow, entry}
	h.Add("queries", func(ctx context.Context) error { return q.serve(ctx, h.NATS) })
	h.Add("deadlines", func(ctx context.Context) error { return s.watch(ctx, c, h.Log, late) })
	return nil
}

// count0 has a series of 0 for each state of the lifecycle that has a deadline, and each level.
func (s Settings) count0(ctx context.Context, c *client.Client, late *prometheus.CounterVec) error {
	reply, err := c.Definition(ctx, s.Workflow)
	if err != nil {
		return err
	}
	def, err := workflow.Load(s.Workflow, reply.Source)
	if err != nil {
		return err
	}
	for _, state := range def.States {
		if state.Timeout == 0 {
			continue
		}
		for _, level := range []workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation} {
			late.WithLabelValues(state.Name, string(level))
		}
	}
	return nil
}

// watch logs and counts each deadline that passes from now on, once. A warning is
// logged as one; an alert and an escalation are logged as errors. It returns when
// ctx ends.
func (s Settings) watch(ctx context.Context, c *client.Client, log *slog.Logger, late *prometheus.CounterVec) error {
	if err := s.count0(ctx, c, late); err != nil {
		return err
	}
	known, err := c.List(ctx, &pb.ListRequest{Workflow: s.Workflow, All: true})
	if err != nil {
		return err
	}
	var from uint64
	for _, t := range known {
		from = max(from, t.GetSeq())
	}
	err = c.Watch(ctx, "", from, func(seen client.LogEntry) error {
		if seen.Workflow != s.Workflow {
			return nil
		}
		for _, e := range seen.Events {
			t, ok := e.(instance.TimedOut)
			if !ok {
				continue
			}
			late.WithLabelValues(t.State, string(t.Level)).Inc()
			level := slog.LevelError
			if t.Level == workflow.Warning {
				level = slog.LevelWarn
			}
			log.Log(ctx, level, "a task takes long", "task", seen.Instance, "state", t.State, "level", t.Level, "after", t.After)
		}
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
