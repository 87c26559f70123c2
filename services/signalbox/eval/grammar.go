package eval

import "github.com/signalbox/signalbox/services/signalbox/command"

// Grammar is the call of the program signalbox-eval.
type Grammar struct {
	command.Flags
	Mine Mine `cmd:"" help:"Make cases of a repository's merged changes: each fails its tests before, and passes them after."`
	Run  Play `cmd:"" help:"Have brains work at cases through the real lifecycle, and say which solves more, for what."`
}
