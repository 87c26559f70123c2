// Command analyst finds out what a report asks for for Signalbox.
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
		Name: "analyst", About: "Judges reports and asks for what they lack.", Program: role.NewApp("analyst").With(pipelinerole.Document{}),
	}))
}
