// Command shepherd takes the code of stories to merged pull requests. The work is
// done in services/shepherd/app: a visit in shepherd.go, its steps a file each.
// pkg/forge/merge says whether a pull request can be merged.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/shepherd/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
