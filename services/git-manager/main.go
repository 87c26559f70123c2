// Command git-manager commits tasks: it brings their code and takes their
// branches to the forge. The work is done in services/git-manager/app; it posts
// and pushes through pkg/forge/forgeside.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/git-manager/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
