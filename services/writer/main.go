// Command writer writes the changes of the pipeline: the `work` that requires a
// change. The work is done in the program that --brain names, run by
// pkg/agent/brain/exec; its part of the document is checked by pkg/document/pipeline.
package main

import (
	"os"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

func main() { os.Exit(roles.Main("writer")) }
