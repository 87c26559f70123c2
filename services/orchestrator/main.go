// Command orchestrator is the only writer of Signalbox's log.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/orchestrator/app"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "orchestrator", About: "Decides every move and writes it to the log; any number of replicas may run.", Program: &app.App{},
	}))
}
