// Command signalbox-eval measures which brain solves more of a repository's own issues.
// `signalbox eval` runs it. The work is done in services/signalbox/eval.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/command"
	"github.com/signalbox/signalbox/services/signalbox/eval"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func main() {
	confine.Intercept()
	os.Exit(command.Run(context.Background(), term.System(), service.Call{
		Name: "signalbox-eval", About: "Measures which brain solves more of a repository's own issues.", Args: os.Args[1:],
	}, new(eval.Grammar)))
}
