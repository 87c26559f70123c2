// Command tester writes, runs and judges tests for Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "tester", About: "Writes tests; runs and judges those of the repository.", Program: role.NewApp("tester"),
	}))
}
