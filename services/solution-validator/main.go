// Command solution-validator judges how tasks are to be gone about. The work is
// done in pkg/agent/brain/rules/validator.go; the loop around a brain is
// pkg/agent/role/coder.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("solution-validator")) }
