// Command cto steps in where tasks keep failing: state cto_intervention of
// `task`. The work is done in pkg/agent/brain/rules/cto.go; the loop around a
// brain is pkg/agent/role/coder.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("cto")) }
