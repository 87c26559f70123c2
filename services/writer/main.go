// Command writer serves the role writer of Signalbox.
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
		Name: "writer", About: "Writes the changes of the pipeline.", Program: role.NewApp("writer").With(pipelinerole.Document{}),
	}))
}
