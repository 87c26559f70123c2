// Command fullstack-developer carries tasks out: the states of `task` whose
// `work` requires a change or runs the acceptance criteria. The work is done in
// pkg/agent/role/coder.go and pkg/agent/role/prove.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("fullstack-developer")) }
