package wire_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/wire"
)

func ExampleBatch() {
	commands, err := wire.Commands(wire.Batch([]byte("claim"), []byte("report")))
	fmt.Printf("%s %v\n", commands, err)
	// Output: [claim report] <nil>
}
