// Command cto serves the role cto of Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "cto", About: "Steps in where tasks keep failing.", Program: role.NewApp("cto"),
	}))
}
