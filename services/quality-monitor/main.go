// Command quality-monitor serves the role quality-monitor of Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "quality-monitor", About: "Verifies the quality of tasks.", Program: role.NewApp("quality-monitor"),
	}))
}
