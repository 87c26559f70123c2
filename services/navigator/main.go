// Command navigator reviews code, architecture and integration, in the overlay
// `issue-navigator`. The work is done in pkg/agent/brain/rules/navigator.go;
// the loop around a brain is pkg/agent/role/coder.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("navigator")) }
