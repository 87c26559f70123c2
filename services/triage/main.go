// Command triage serves the role triage of Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/pipelinerole"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "triage", About: "Says which issues the pipeline takes up.", Program: role.NewApp("triage").With(pipelinerole.Document{}),
	}))
}
