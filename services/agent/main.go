// Command agent is the service of every role that needs no program of its own. Call it as
// `agent analyst`, or a link to it that is called analyst. See pkg/agent/roles.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Multicall()) }
