package workflow

import "cel.dev/cel-go/cel"

// Guard is a compiled CEL condition. The zero Guard always holds.
type Guard struct {
	Source  string
	program cel.Program
	policy  map[string]any
}
