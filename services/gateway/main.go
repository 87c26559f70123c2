// Command gateway watches repositories on the forge, by polling and webhooks.
// The work is done in services/gateway/app: intake.go opens instances, order.go
// carries out commands in comments, whose grammar is pkg/forge/command.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/gateway/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
