// Command signalbox is the command line, and all of Signalbox in one process.
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
