package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// machineFlags say what doctor checks on this machine. They are those of up.
type machineFlags struct {
	Brain      []string      `name:"brain" placeholder:"ROLE[.STATE]=SPEC" sep:"none" help:"Brain to check, as up takes it; without one the coding agents in PATH. May be repeated."`
	BrainTrial []string      `name:"brain-trial" placeholder:"SPEC" sep:"none" help:"Brain to try on a task of one file: a preset such as claude, exec:COMMAND or model:PROVIDER/NAME. It may cost a little. May be repeated."`
	BrainWall  time.Duration `name:"brain-wall" default:"5m" help:"How long a brain may take for the task of --brain-trial."`
	BrainIdle  time.Duration `name:"brain-idle" default:"5m" help:"How long it may print nothing."`
	BrainEnv   []string      `name:"brain-env" placeholder:"NAME" help:"Environment variable that it may see, as up takes it; may be repeated."`
	Presets    string        `name:"presets" type:"path" placeholder:"DIR" help:"Directory of presets for coding agents, NAME.yaml. They win over built-in presets of the same name."`
	Servers    string        `name:"mcp-servers" type:"path" placeholder:"FILE" help:"YAML file of MCP servers to start and ask for their tools, as up takes it."`
	Egress     []string      `name:"egress" placeholder:"HOST[:PORT]" help:"Host that it can reach from the sandbox, as up takes it; may be repeated."`
	Sandbox    string        `name:"sandbox" enum:"auto,bwrap,landlock,none" default:"auto" help:"Sandbox to check, as up takes it."`
	Data       string        `name:"data" type:"path" default:".signalbox" placeholder:"DIR" help:"Data directory of up, for the space on its disk."`
}

// machine checks this machine.
func (c doctorCommand) machine(ctx context.Context, e *checkup) {
	e.check(ctx, "git", gitVersion)
	e.check(ctx, "git identity", identity)
	e.check(ctx, "sandbox", c.sandbox)
	if len(c.Brain) == 0 {
		e.check(ctx, "coding agents", c.codingAgents)
	} else {
		c.brains(e)
	}
	c.servers(ctx, e)
	c.trials(ctx, e)
	e.check(ctx, "disk", func(context.Context) finding { return space(c.Data) })
	if cache, err := os.UserCacheDir(); err == nil {
		e.check(ctx, "disk of work", func(context.Context) finding { return space(cache) })
	}
}

// identity checks who git says commits. The commits of brains are by Signalbox. The files
// are named, since package git reads none of a person.
func identity(ctx context.Context) finding {
	files := []string{os.Getenv("GIT_CONFIG_GLOBAL")}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	if config, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(config, "git", "config"))
	}
	for _, file := range files {
		g := git.New("").WithEnv("GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_GLOBAL="+file)
		name, _ := g.Run(ctx, "config", "user.name") // it fails where there is none
		mail, _ := g.Run(ctx, "config", "user.email")
		if name != "" && mail != "" {
			return finding{"", fine, name + " <" + mail + ">; the work itself is committed by Signalbox", ""}
		}
	}
	return finding{"", worry, "none: you cannot commit",
		"git config --global user.name NAME, and user.email; the work itself is committed by Signalbox"}
}

// sandbox tries the sandbox of brains and tests.
func (c machineFlags) sandbox(ctx context.Context) finding {
	box, err := sandbox.New(ctx, sandbox.Mode(c.Sandbox))
	switch {
	case err != nil:
		return failed("", err.Error(), "docs/sandbox.md lists their needs")
	case !box.Confines():
		return finding{"", worry, box.Describe(), "brains and tests have all your rights: say --sandbox=auto"}
	case len(box.Missing()) > 0:
		return finding{"", worry, box.Describe(), "install bubblewrap for the rest"}
	}
	return finding{"", fine, box.Describe(), ""}
}

// codingAgents checks the coding agents that are known: those that are there have to answer.
func (c machineFlags) codingAgents(context.Context) finding {
	presets, err := exec.ReadPresets(c.Presets)
	if err != nil {
		return failed("", err.Error(), "docs/brains.md#presets has the keys")
	}
	var there, broken []string
	for _, name := range presets.Names() {
		_, err := role.Specs{"developer": "exec:" + name}.Build("developer", role.Tools{PresetsDir: c.Presets})
		switch {
		case err == nil:
			there = append(there, name)
		case !errors.Is(err, role.ErrNoProgram):
			broken = append(broken, err.Error())
		}
	}
	known := strings.Join(presets.Names(), ", ")
	switch {
	case len(broken) > 0:
		return failed("", strings.Join(broken, "; "), "reinstall it, or take it out of PATH")
	case len(there) == 0:
		return finding{"", worry, "none of " + known + " is in PATH", "install one; --brain developer=exec:COMMAND takes any program"}
	}
	return finding{"", fine, strings.Join(there, ", ") + ": --brain developer=exec:" + there[0], ""}
}

// brains checks the brains of --brain.
func (c machineFlags) brains(e *checkup) {
	const check = "brains"
	defs, err := allinone.Definitions("")
	if err == nil {
		err = role.Settings{Brain: c.Brain, Presets: c.Presets, Servers: c.Servers}.CheckBrains(allinone.ThinkingRoles(defs...), defs)
	}
	if err != nil {
		e.say(failed(check, err.Error(), ""))
		return
	}
	specs, err := role.ParseSpecs(c.Brain, "")
	for _, name := range specs.Roles() {
		if err == nil {
			_, err = specs.Build(name, role.Tools{PresetsDir: c.Presets, ServersFile: c.Servers})
		}
	}
	if err != nil {
		e.say(failed(check, err.Error(), "install it, or name another program"))
		return
	}
	e.say(finding{check, fine, view.Count(len(c.Brain), "brain") + " can be started", ""})
}

// Space that is left: little is reported; with less the log cannot be written for long.
const (
	littleSpace = 2 << 30
	noSpace     = 200 << 20
)

// space checks the space on the disk of a directory, which may not be there yet.
func space(dir string) finding {
	at, err := filepath.Abs(dir)
	if err != nil {
		return failed("", err.Error(), "")
	}
	var disk unix.Statfs_t
	for err = unix.Statfs(at, &disk); errors.Is(err, unix.ENOENT) && at != filepath.Dir(at); err = unix.Statfs(at, &disk) {
		at = filepath.Dir(at)
	}
	if err != nil {
		return failed("", fmt.Sprintf("%s: %v", at, err), "name a directory that can be read with --data")
	}
	free := disk.Bavail * uint64(disk.Bsize)
	detail := size(free) + " left for " + term.Line(dir)
	switch {
	case free < noSpace:
		return failed("", detail, "make room: without it the log takes nothing, and work stops")
	case free < littleSpace:
		return finding{"", worry, detail, "make room: work trees and caches need it"}
	}
	return finding{"", fine, detail, ""}
}
