// Command signalbox is the command line, and all services in one process. The work
// is done in services/signalbox/cli, a file a subcommand; what they print is in
// view, and the services in one process in allinone.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func main() {
	confine.Intercept()
	os.Exit(cli.Run(context.Background(), term.System(), os.Args[1:]))
}
