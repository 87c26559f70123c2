// Command signalbox is the command line, all services in one process, and each service that
// holds no token of a forge. The work of the command line is done in services/signalbox/cli, a file a
// subcommand; what they print is in view, and the services in one process in allinone. serve finds
// the service that the program was called for: `signalbox orchestrator`, or a link called orchestrator.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/serve"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func main() {
	confine.Intercept()
	ctx := context.Background()
	if code, ok := serve.Named(ctx); ok {
		os.Exit(code)
	}
	os.Exit(cli.Run(ctx, term.System(), os.Args[1:]))
}
