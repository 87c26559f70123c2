package bench

import "github.com/signalbox/signalbox/services/signalbox/command"

// Grammar is the call of the program signalbox-bench.
type Grammar struct {
	command.Flags
	Command
}
