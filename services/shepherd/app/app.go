package app

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the shepherd's flags.
type App struct {
	service.Flags
	Settings
}

// Settings are the shepherd's flags in addition to the common ones.
type Settings struct {
	forgeside.Settings
	Workers int    `name:"workers" default:"1" help:"Pieces of work at a time."`
	Command string `name:"command" default:"signalbox" placeholder:"WORD" help:"Name of commands in comments, as the gateway has it: they are no remarks. Empty: there are none."`
}

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "shepherd", About: "Opens pull requests for stories, answers their reviewers, merges what is ready.", Program: &App{}}
}

// Setup implements service.Program. It refuses a wrong token or repository.
func (a *App) Setup(ctx context.Context, h *service.Host) error {
	if err := forgeside.Reach(ctx, h, &a.Forge, a.Repo); err != nil {
		return err
	}
	return a.Settings.Setup(ctx, h)
}

// Setup adds the shepherd to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	a, err := s.Add(ctx, h, "shepherd", func(d forgeside.Deps) agent.Handler {
		return &shepherd{forge: d.Forge, gate: d.Gate, command: s.Command, now: time.Now}
	})
	if err != nil {
		return err
	}
	a.Workers = s.Workers
	return nil
}
