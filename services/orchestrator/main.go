// Command orchestrator is the only writer of the log. The work is done in
// pkg/engine, which handles commands. services/orchestrator/api answers requests,
// services/orchestrator/app runs queues and timers, and
// services/orchestrator/standby decides which of several orchestrators is active.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/orchestrator/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
