// Command plan-manager watches the deadlines of tasks and answers queries about
// them. The work is done in services/plan-manager/app; the documents are pkg/document/plan
// and pkg/document/task.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/plan-manager/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
