package app

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the PM's flags.
type App struct {
	service.Flags
	Settings
}

// Settings are the PM's flags in addition to the common ones.
type Settings struct {
	forgeside.Settings
	Brain   []string      `name:"brain" placeholder:"SPEC" sep:"none" help:"Brain that reads people's comments, and words questions to them: exec:COMMAND, exec:PRESET or model:PROVIDER/NAME; pm.STATE=SPEC for one state. The rules do without it, and where it fails. May be repeated."`
	Env     []string      `name:"brain-env" placeholder:"NAME" help:"Environment variable that the brain may see, in addition to the usual ones; may be repeated."`
	Wall    time.Duration `name:"brain-wall" default:"10m" help:"How long the brain may take for one reading."`
	Sandbox string        `name:"sandbox" enum:"auto,bwrap,landlock,none" default:"auto" help:"How the brain is confined: auto takes bubblewrap where it works, else Landlock, else refuses; none gives it all rights of this user."`
	Prompts string        `name:"prompts" type:"path" placeholder:"DIR" help:"Directory of templates of prompts, pm.tmpl and pm.STATE.tmpl, that win over the built-in ones."`
	Presets string        `name:"presets" type:"path" placeholder:"DIR" help:"Directory of presets for coding agents, NAME.yaml. They win over built-in presets of the same name."`
	role.Models
	Status

	Box    *sandbox.Sandbox `kong:"-"` // nil: made from Sandbox
	Hidden []string         `kong:"-"` // paths that the brain does not see
}

// Status is how issues show how they stand.
type Status struct {
	Comment bool          `name:"status-comment" default:"true" negatable:"" help:"Keep a comment with the state of each issue on it, edited in place."`
	Labels  bool          `name:"status-labels" help:"Show it by labels too: signalbox:working, signalbox:waiting, signalbox:done and signalbox:failed."`
	Rest    time.Duration `name:"status-every" default:"30s" help:"How long nothing is written on an issue about how it stands after that was; a tenth of it where people are waited for and at the end."`
}

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "pm", About: "Asks people through issue comments, reads their answers, opens pull requests.", Program: &App{}}
}

// Setup implements service.Program. It refuses a wrong token or repository.
func (a *App) Setup(ctx context.Context, h *service.Host) error {
	if err := forgeside.Reach(ctx, h, &a.Forge, a.Repo); err != nil {
		return err
	}
	return a.Settings.Setup(ctx, h)
}

// Setup adds the PM to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	thinks := role.Settings{Brain: s.Brain, Env: s.Env, Wall: s.Wall, Sandbox: s.Sandbox, WorkDir: s.WorkDir, Box: s.Box,
		Hidden: s.Hidden, Models: s.Models, Prompts: s.Prompts, Presets: s.Presets}
	thinks.Hidden = append(slices.Clip(thinks.Hidden), s.Forge.Files()...)
	brains, err := thinks.Thinks(ctx, "pm")
	if err != nil {
		return err
	}
	_, err = s.Add(ctx, h, "pm", func(d forgeside.Deps) agent.Handler {
		pm := &handler{reader: d.Forge, writer: d.Forge, gate: d.Gate, log: h.Log, now: time.Now, brains: brains, others: client.New(h.NATS, h.Name)}
		h.Add("endings", func(ctx context.Context) error { return pm.notifyEnded(ctx, h, d.JetStream) })
		h.Add("comments", func(ctx context.Context) error { return forgeside.ServeComments(ctx, h.NATS, pm.postRequested) })
		if s.Comment || s.Labels {
			st := newStatuses(pm, client.New(h.NATS, h.Name))
			st.every, st.comment, st.labels = s.Rest, s.Comment, s.Labels
			h.Add("statuses", func(ctx context.Context) error { return st.run(ctx, d.JetStream) })
		}
		return pm
	})
	return err
}
