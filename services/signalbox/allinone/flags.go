package allinone

import (
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/role"
)

// Agents has the flags of the commands that run agents.
type Agents struct {
	Brain       []string      `name:"brain" group:"Agents" placeholder:"ROLE[.STATE]=SPEC" sep:"none" help:"Brain of a role: developer=exec:COMMAND, developer=exec:claude, developer=model:anthropic/NAME, tester.creating_tests=exec:COMMAND, analyst=rules. May be repeated."`
	BrainEnv    []string      `name:"brain-env" group:"Agents" placeholder:"[ROLE=]NAME" help:"Environment variable that brains may see, of all roles or of one, in addition to the usual ones. May be repeated."`
	BrainWall   time.Duration `name:"brain-wall" group:"Agents" default:"30m" help:"How long a brain that is a program may take for one piece of work."`
	BrainIdle   time.Duration `name:"brain-idle" group:"Agents" default:"10m" help:"How long it may print nothing meanwhile."`
	Sandbox     string        `name:"sandbox" group:"Agents" enum:"auto,bwrap,landlock,none" default:"auto" help:"How brains and tests are confined: auto takes bubblewrap where it works, else Landlock, else refuses; none gives them all your rights."`
	Egress      []string      `name:"egress" group:"Agents" placeholder:"[ROLE=]HOST[:PORT]" help:"Host that brains and tests can reach from the sandbox, of all roles or of one, such as a registry of packages; port 443 by default. May be repeated."`
	Read        []string      `name:"brain-read" group:"Agents" type:"path" placeholder:"PATH" help:"File or directory that brains may read from the sandbox, in addition to the files their command names. May be repeated."`
	Limit       []string      `name:"limit" group:"Agents" placeholder:"NAME=VALUE" help:"Limit of what a brain or test run may use: memory, disk, file-size (8GiB), processes, files (1000), cpu (1h). May be repeated."`
	StateFile   string        `name:"state-file" group:"Agents" placeholder:"PATH" default:"issue-state.json" help:"Where in its work tree a program finds the document of the lifecycle, if that has one."`
	CommitAs    string        `name:"commit-as" group:"Agents" placeholder:"WHO" help:"Author and committer of commits, as NAME <EMAIL>; by default the bot that the token or the App stands for, else Signalbox <signalbox@localhost>."`
	Prompts     string        `name:"prompts" group:"Agents" type:"path" placeholder:"DIR" help:"Directory of templates of prompts, ROLE.tmpl and ROLE.STATE.tmpl, that win over those of the repository and the built-in ones."`
	Presets     string        `name:"presets" group:"Agents" type:"path" placeholder:"DIR" help:"Directory of presets for coding agents, NAME.yaml. They win over built-in presets of the same name."`
	Servers     string        `name:"mcp-servers" group:"Agents" type:"path" placeholder:"FILE" help:"YAML file of MCP servers whose tools brains are given, by role."`
	Workers     int           `name:"workers" group:"Agents" default:"1" help:"Pieces of work a role does at a time."`
	role.Models `embed:"" group:"Agents"`
	Workflow    string `name:"workflow" group:"Agents" default:"${workflow=issue}" help:"Lifecycle that new issues open with."`
	WorkflowDir string `name:"workflow-dir" group:"Agents" type:"existingdir" placeholder:"DIR" help:"Directory of lifecycles of your own."`
}

// Settings returns the settings of the agents.
func (a Agents) Settings() role.Settings {
	return role.Settings{Brain: a.brains(), Env: a.BrainEnv, Wall: a.BrainWall, Idle: a.BrainIdle, Sandbox: a.Sandbox, Workers: a.Workers,
		Models: a.Models, Endpoints: &model.Endpoints{}, StateFile: a.StateFile, CommitAs: a.CommitAs, Egress: a.Egress, Read: a.Read, Limit: a.Limit, Prompts: a.Prompts, Presets: a.Presets, Servers: a.Servers}
}
