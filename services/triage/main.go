// Command triage says which issues the pipeline takes up. The work is done in
// pkg/agent/pipelinerole/triage.go; the loop around a brain is
// pkg/agent/role/coder.go. bin/triage is a link to services/agent, which serves
// the same role.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("triage")) }
