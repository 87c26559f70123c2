package serve

import (
	"context"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/agent/roles"
	"github.com/signalbox/signalbox/pkg/service"
	console "github.com/signalbox/signalbox/services/console/app"
	localforge "github.com/signalbox/signalbox/services/local-forge/app"
	notify "github.com/signalbox/signalbox/services/notify/app"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	planmanager "github.com/signalbox/signalbox/services/plan-manager/app"
)

// Services returns the services that the program signalbox serves by name. Those that hold
// the token of the forge are in the program signalbox-github.
func Services() []service.Main {
	return append([]service.Main{orchestrator.Main(), planmanager.Main(), notify.Main(), localforge.Main()}, roles.Mains()...)
}

// Named runs the service that the process was called for, as `signalbox tester` or by a link
// that is called tester, until it ends. ok is false if it was called for the command line.
func Named(ctx context.Context) (code int, ok bool) {
	all := Services()
	if program := filepath.Base(os.Args[0]); program == service.ImageName || program == console.Main().Name {
		all = append(all, console.Main()) // signalbox console is a command: it prints the link
	}
	if filepath.Base(os.Args[0]) == service.ImageName {
		return service.Multicall(ctx, all), true
	}
	m, ok := service.Called(os.Args, "", all)
	if !ok {
		return 0, false
	}
	return service.Run(ctx, m), true
}
