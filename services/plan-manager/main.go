// Command plan-manager watches the tasks of Signalbox and answers questions about them.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/plan-manager/app"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "plan-manager", About: "Watches the timeouts of tasks and answers questions about them.", Program: new(app.App),
	}))
}
