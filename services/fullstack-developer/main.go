// Command fullstack-developer serves the role fullstack-developer of Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "fullstack-developer", About: "Carries tasks out and checks them.", Program: role.NewApp("fullstack-developer"),
	}))
}
