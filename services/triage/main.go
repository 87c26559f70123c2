// Command triage says which issues the pipeline takes up. The work is done in
// pkg/agent/pipelinerole/triage.go; the loop around a brain is
// pkg/agent/role/coder.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("triage")) }
