// Command quality-monitor verifies the quality of tasks. The work is done in
// pkg/agent/brain/rules/quality.go; the loop around a brain is
// pkg/agent/role/coder.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("quality-monitor")) }
