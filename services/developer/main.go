// Command developer implements and fixes: the states of `issue` and `story`
// whose `work` requires a change. The work is done in the program that --brain
// names, run by pkg/agent/brain/exec; what it left is checked and committed by
// pkg/agent/role/coder.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("developer")) }
