// Command analyst judges reports: its work in `issue` and `pipeline` is
// reading, without changes. The work is done in
// pkg/agent/brain/rules/analyst.go, pkg/agent/pipelinerole/brief.go; the loop around
// a brain is pkg/agent/role/coder.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("analyst")) }
