// Command tester writes tests, and runs and judges those of the repository: the
// `work` that runs tests. The work is done in pkg/agent/role/test.go,
// pkg/agent/testrun and pkg/agent/brain/rules/tester.go.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("tester")) }
