// Command reviewer judges the changes of the pipeline: the `work` that drops
// changes. The work is done in pkg/agent/pipelinerole/reviewer.go and
// pkg/agent/role/judge.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("reviewer")) }
