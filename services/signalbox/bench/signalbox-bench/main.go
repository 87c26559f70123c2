// Command signalbox-bench measures the engine with agents that do nothing, against raw JetStream.
// `signalbox bench` runs it. The work is done in services/signalbox/bench.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/bench"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
	"github.com/signalbox/signalbox/services/signalbox/command"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func main() {
	ctx := context.Background()
	process.Main(ctx)
	os.Exit(command.Run(ctx, term.System(), service.Call{
		Name: "signalbox-bench", About: "Measures the engine with agents that do nothing, against raw JetStream.", Args: os.Args[1:],
	}, new(bench.Grammar)))
}
