package workflow

import "testing"

func TestBuiltinsAreProven(t *testing.T) {
	defs := builtins(t)
	for _, d := range defs {
		for _, p := range Verify(d, "pm", "analyst", "tester", "developer", "navigator") {
			t.Error(p)
		}
	}
}
