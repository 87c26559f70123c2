// Command reviewer judges the changes of the pipeline: the `work` that drops
// changes. The work is done in pkg/agent/pipelinerole/reviewer.go and
// pkg/agent/role/judge.go. bin/reviewer is a link to services/agent, which
// serves the same role.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("reviewer")) }
