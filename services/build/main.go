// Command build serves the role build of Signalbox.
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
		Name: "build", About: "Runs tests, lint and type checks for the pipeline.", Program: role.NewApp("build").With(pipelinerole.Document{}),
	}))
}
