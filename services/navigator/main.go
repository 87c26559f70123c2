// Command navigator reviews code for Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "navigator", About: "Reviews code, architecture and integration.", Program: role.NewApp("navigator"),
	}))
}
