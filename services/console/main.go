// Command console serves pages about a running system: where each instance is, why it does not
// move, and forms that answer it. The work is done in services/console/app.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/console/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
