package forgetest

import (
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/outbound"
)

// Side returns the forge and the gate of a service that works as the user, on Repo
// and on the repositories of the list.
func (f *Forge) Side(login string, objects workspace.Objects, repos ...string) (*forgeside.Forge, forgeside.Gate) {
	f.t.Helper()
	checker, err := outbound.New(outbound.DefaultRules())
	if err != nil {
		f.t.Fatal(err)
	}
	gate := forgeside.Gate{Repos: append(repos, Repo), Workspace: Workspace(f.t, objects), Token: Token(login)}
	return forgeside.NewForge(f.Client(login), checker, gate.Repos, nil), gate
}
