// Command solution-validator serves the role solution-validator of Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "solution-validator", About: "Judges how tasks are to be gone about.", Program: role.NewApp("solution-validator"),
	}))
}
