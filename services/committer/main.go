// Command committer hands in what the pipeline made: it brings the code, pushes
// the branch and opens the pull request. The work is done in
// services/committer/app; it posts and pushes through pkg/forge/forgeside.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/committer/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
