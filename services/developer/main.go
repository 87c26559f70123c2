// Command developer writes the solution for Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "developer", About: "Implements and fixes; needs a --brain.", Program: role.NewApp("developer"),
	}))
}
