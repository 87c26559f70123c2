package allinone

import (
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
)

// Agents has the flags of the commands that run agents.
type Agents struct {
	Brain       []string      `name:"brain" group:"Agents" placeholder:"ROLE[.STATE]=SPEC" sep:"none" help:"What a role thinks with: developer=exec:COMMAND, developer=exec:claude, tester.creating_tests=exec:COMMAND, analyst=rules. May be repeated."`
	BrainEnv    []string      `name:"brain-env" group:"Agents" placeholder:"NAME" help:"Environment variable that brains may see, beside the usual ones. May be repeated."`
	BrainWall   time.Duration `name:"brain-wall" group:"Agents" default:"30m" help:"How long a brain that is a program may take for one piece of work."`
	BrainIdle   time.Duration `name:"brain-idle" group:"Agents" default:"10m" help:"How long it may print nothing meanwhile."`
	Sandbox     string        `name:"sandbox" group:"Agents" enum:"auto,bwrap,none" default:"auto" help:"How test runs are confined: auto takes bubblewrap where it works."`
	StateFile   string        `name:"state-file" group:"Agents" placeholder:"PATH" default:"issue-state.json" help:"Where in its work tree a program finds the document of the lifecycle, if that has one."`
	Workers     int           `name:"workers" group:"Agents" default:"1" help:"Pieces of work a role does at a time."`
	Workflow    string        `name:"workflow" group:"Agents" default:"${workflow=issue}" help:"Lifecycle that new issues open with."`
	WorkflowDir string        `name:"workflow-dir" group:"Agents" type:"existingdir" placeholder:"DIR" help:"Directory of lifecycles of your own."`
}

// Settings returns the settings of the agents.
func (a Agents) Settings() role.Settings {
	return role.Settings{Brain: a.Brain, Env: a.BrainEnv, Wall: a.BrainWall, Idle: a.BrainIdle, Sandbox: a.Sandbox, Workers: a.Workers,
		StateFile: a.StateFile}
}
