// Command build runs the tests, lint and type checks of the pipeline: the
// `work` that runs checks. The work is done in pkg/agent/role/test.go and
// pkg/agent/testrun.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("build")) }
