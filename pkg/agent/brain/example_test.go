package brain_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

func ExamplePlain() {
	fmt.Printf("%q\n", brain.Plain([]byte("\uFEFF\n  The sum is wrong.\n")))
	// Output: "The sum is wrong."
}
