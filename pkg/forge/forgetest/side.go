package forgetest

import (
	"context"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// Side returns the forge and the gate of a service that works as the user, on Repo
// and on the repositories of the list.
func (f *Forge) Side(login string, objects workspace.Objects, repos ...string) (*forgeside.Forge, forgeside.Gate) {
	f.t.Helper()
	secrets, err := secret.New()
	if err != nil {
		f.t.Fatal(err)
	}
	gate := forgeside.Gate{Repos: append(repos, Repo), Workspace: Workspace(f.t, objects), Token: func(context.Context, string) (string, error) { return Token(login), nil }}
	return forgeside.NewForge(f.Client(login), outbound.New(outbound.DefaultRules(), secrets.With(Token(login))), gate.Repos, nil), gate
}
