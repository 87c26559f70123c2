// Command local-forge serves a forge of one's own, which speaks GitHub's REST, for systems without
// GitHub. The work is done in services/local-forge/app and pkg/localforge.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/local-forge/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
