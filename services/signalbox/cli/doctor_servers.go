package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// servers starts each MCP server as a step of an agent would, and says which tools it has for
// which roles.
func (c machineFlags) servers(ctx context.Context, e *checkup) {
	if c.Servers == "" {
		return
	}
	const check = "mcp servers"
	all, err := mcp.Read(c.Servers)
	if err == nil {
		all, err = all.Ready()
	}
	if err == nil {
		defs, derr := allinone.Definitions("")
		if err = derr; err == nil {
			err = all.CheckRoles(allinone.BrainRoles(defs...))
		}
	}
	if err != nil {
		e.say(failed(check, err.Error(), "docs/brains.md#mcp-servers has the keys"))
		return
	}
	box, err := sandbox.New(ctx, sandbox.Mode(c.Sandbox))
	if err != nil {
		e.say(failed(check, err.Error(), "docs/sandbox.md lists their needs"))
		return
	}
	for _, one := range all {
		f := offers(ctx, one, box)
		f.Check = "mcp server " + one.Name
		e.say(f)
	}
}

// offers lists the tools of a server.
func offers(ctx context.Context, one mcp.Server, box sandbox.Sandbox) finding {
	s, err := mcp.Servers{one}.Open(ctx, mcp.Place{Sandbox: box})
	if err == nil {
		defer s.Close()
		if len(s.Silent) > 0 {
			err = errors.New(s.Said[0])
		}
	}
	advice := unset(one)
	if err != nil {
		return failed("", err.Error(), strings.Join(append(advice, "see that it starts, that its hosts are listed, and that it is given what it needs by env or headers"), "; "))
	}
	who := "all roles that work on code"
	if len(one.Roles) > 0 {
		who = strings.Join(one.Roles, ", ")
	}
	var names []string
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	f := finding{"", fine, "for " + who + ": " + strings.Join(names, ", "), strings.Join(append(s.Said[1:], advice...), "; ")}
	if len(names) == 0 {
		f.Detail = "for " + who + ": no tools"
	}
	if len(names) == 0 || f.Advice != "" {
		f.Status = worry
	}
	lacks := func(tool string) bool { return !slices.Contains(names, one.Offered(tool)) }
	if one.Required && slices.ContainsFunc(one.Tools, lacks) {
		f.Status = fail
	}
	return f
}

// unset returns a line for each variable that the server is to be given and that is not set.
func unset(one mcp.Server) (lines []string) {
	for _, name := range one.Env {
		if _, set := os.LookupEnv(name); !set {
			lines = append(lines, "env: "+name+" is not set here")
		}
	}
	return lines
}
