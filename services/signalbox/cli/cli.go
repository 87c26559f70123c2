// Package cli is the command line. Each command is in the file of its name.
package cli

import (
	"context"
	"errors"
	"io"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/bench"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
	"github.com/signalbox/signalbox/services/signalbox/demo"
	"github.com/signalbox/signalbox/services/signalbox/eval"
	"github.com/signalbox/signalbox/services/signalbox/handin"
	"github.com/signalbox/signalbox/services/signalbox/resolve"
	"github.com/signalbox/signalbox/services/signalbox/serve"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// grammar has all commands and the flags that all of them have.
type grammar struct {
	JSON bool `name:"json" help:"Print JSON: one object, or one a line for lists and streams."`
	service.NATS
	service.Logging
	Config      kong.ConfigFlag  `name:"config" placeholder:"FILE" help:"YAML or JSON file of flag names and values. Flags and environment variables win over it."`
	ShowVersion kong.VersionFlag `name:"version" env:"-" help:"Show the version and exit."`

	Demo     demo.Command    `cmd:"" group:"Here" help:"Show the whole job: a vague report becomes a pull request whose tests pass."`
	Resolve  resolve.Command `cmd:"" group:"Here" help:"Take one issue of a local repository from report to branch."`
	Pipeline struct {
		Run    resolve.Command `cmd:"" set:"workflow=pipeline" help:"Take one issue of a local repository through the pipeline, as a step of a CI job does: triage, analyst, writer, build, reviewer, committer."`
		Check  handin.Check    `cmd:"" help:"Check what such a run has left, before another job pushes it: its branch, its commits, its words."`
		Reason handin.Reason   `cmd:"" help:"Print a comment that says why such a run has left nothing to push."`
	} `cmd:"" group:"Here" help:"The pipeline lifecycle."`
	Up    upCommand     `cmd:"" group:"Here" help:"Run everything in this process, until interrupted."`
	Agent serve.Command `cmd:"" group:"Here" help:"Serve one role of any lifecycle, until interrupted."`
	Eval  struct {
		Mine eval.Mine `cmd:"" help:"Make cases of a repository's merged changes: each fails its tests before, and passes them after."`
		Run  eval.Play `cmd:"" help:"Have brains work at cases through the real lifecycle, and say which solves more, for what."`
	} `cmd:"" group:"Here" help:"Measure which brain solves more of your issues."`
	Bench   bench.Command   `cmd:"" group:"Here" help:"Measure the engine with agents that do nothing, against raw JetStream."`
	Process process.Command `cmd:"" name:"bench-process" hidden:"" help:"A process of a measurement."`

	Open     openCommand     `cmd:"" group:"Running" help:"Open an instance for a report and print its id."`
	Ls       lsCommand       `cmd:"" group:"Running" help:"List instances: state, owner, who works on it, for how long."`
	Show     showCommand     `cmd:"" group:"Running" help:"Show where an instance is, and everything known of it."`
	History  historyCommand  `cmd:"" group:"Running" help:"Show how an instance came there: one line an event."`
	Logs     logsCommand     `cmd:"" group:"Running" help:"Print what was said in the steps: what brains were asked and printed, what checks printed."`
	Diff     diffCommand     `cmd:"" group:"Running" help:"Print the change to the code that an instance has made."`
	Costs    costsCommand    `cmd:"" group:"Running" help:"Say what the work cost, by repository, role, brain, state, day or instance."`
	State    stateCommand    `cmd:"" group:"Running" help:"Print the document that the roles of the pipeline lifecycle share."`
	Watch    watchCommand    `cmd:"" group:"Running" help:"Follow what happens, live; until the instance ends."`
	Explain  explainCommand  `cmd:"" group:"Running" help:"Say why an instance does not move, and what would move it."`
	Answer   answerCommand   `cmd:"" group:"Running" help:"Answer the questions an instance waits with."`
	Approve  approveCommand  `cmd:"" group:"Running" help:"Say yes to what an instance waits with, where its lifecycle asks for that."`
	Signal   signalCommand   `cmd:"" group:"Running" help:"Tell an instance what happened outside, by the name its lifecycle listens to."`
	Budget   budgetCommand   `cmd:"" group:"Running" help:"Let an instance cost more than the policy of its lifecycle says."`
	Pause    pauseCommand    `cmd:"" group:"Running" help:"Keep an instance's work from being given out."`
	Resume   resumeCommand   `cmd:"" group:"Running" help:"Let a paused instance go on."`
	Cancel   cancelCommand   `cmd:"" group:"Running" help:"Close an instance where it stands."`
	Retry    retryCommand    `cmd:"" group:"Running" help:"Give the owner the work once more."`
	Reopen   reopenCommand   `cmd:"" group:"Running" help:"Start an instance again that has ended, on the code that it left."`
	Override overrideCommand `cmd:"" group:"Running" help:"Move an instance to any state, whatever the table permits."`
	Note     noteCommand     `cmd:"" group:"Running" help:"Keep a remark with an instance."`

	Plan planCommands `cmd:"" group:"Running" help:"Plans: files of tasks."`
	Prd  prdCommands  `cmd:"" group:"Running" help:"Plans: files of stories, prd.json."`

	Mcp mcpCommand `cmd:"" group:"Running" help:"Offer these commands to an assistant, as tools of the Model Context Protocol: over standard input and output, or over HTTP."`

	Github githubCommands `cmd:"" group:"Running" help:"The forge: the App that Signalbox works as, and what webhooks have told."`

	Audit   auditCommand   `cmd:"" group:"The log" help:"Read a log from its beginning to its end and name everything in it that must not be."`
	Backup  backupCommand  `cmd:"" group:"The log" help:"Write the log, and what goes with it, to a directory, or add to it what came since."`
	Restore restoreCommand `cmd:"" group:"The log" help:"Make the log, and what goes with it, from a backup."`

	Definition definitionCommand `cmd:"" group:"Lifecycles" help:"Lifecycles as data: list, show, export, verify, draw and compare them."`

	Configuration configGroup `cmd:"" name:"config" group:"Lifecycles" help:"The configuration of a repository, .signalbox/config.yaml."`

	Brain  brainCommand  `cmd:"" group:"Lifecycles" help:"The coding agents that brains are made of: list the presets, and print one."`
	Prompt promptCommand `cmd:"" group:"Lifecycles" help:"What brains are told: list, and print as a brain would get it."`

	Auth       authCommand       `cmd:"" group:"This program" help:"Who may connect to NATS: keys and accounts of services and people."`
	Doctor     doctorCommand     `cmd:"" group:"This program" help:"Check what is needed, and say what to do about what is missing."`
	Help       helpCommand       `cmd:"" group:"This program" help:"Help on a command, or on the flags that all have: help COMMAND, help flags."`
	Version    versionCommand    `cmd:"" group:"This program" help:"Say what this binary was built from."`
	Complete   completeCommand   `cmd:"" hidden:"" passthrough:"" help:"Print what the last word of a command line may become."`
	Completion completionCommand `cmd:"" group:"This program" help:"Print a script that completes commands for a shell."`
}

const purpose = "Takes issues from report to pull request, one state and one agent at a time."

// Run runs one command line, or prints help without one, and returns the exit code, one
// of those of package service.
func Run(ctx context.Context, env term.Env, args []string) int {
	var g grammar
	args, help := asHelp(args)
	call := service.Call{Name: "signalbox", About: purpose, Args: args, Stdout: env.Stdout, Stderr: env.Stderr}
	parsed, err := service.Parse(&g, call, groups(), kong.Help(help))
	if wrong := (*kong.ParseError)(nil); errors.As(err, &wrong) {
		parsed = wrong.Context
	}
	if parsed != nil && parsed.Selected() != nil {
		call.Help = "signalbox " + commandPath(parsed.Selected()) + " --help"
	}
	if err != nil {
		return call.Exit(err)
	}
	ctx, stop := service.NotifyContext(ctx)
	defer stop()
	out := &sticky{Writer: env.Stdout}
	env.Stdout = out
	env.JSON, env.NATS, env.Logging = g.JSON, g.NATS, g.Logging
	env.Log = g.Logging.Logger(env.Stderr)
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(&env)
	if code := service.ExitCode(err); out.err != nil && (code == service.ExitDone || code == service.ExitWaits) {
		err = out.err
	}
	return call.Exit(err)
}

func groups() kong.Option {
	return kong.ExplicitGroups([]kong.Group{
		{Key: "Here", Title: "Run it here:"},
		{Key: "Running", Title: "A running system:"},
		{Key: "The log", Title: "The log as evidence:"},
		{Key: "Lifecycles", Title: "Lifecycles:"},
		{Key: "This program", Title: "This program:"},
	})
}

// sticky keeps the first error of Write. Run returns it, so that commands do not have
// to check each line they print.
type sticky struct {
	io.Writer
	err error
}

func (s *sticky) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}
