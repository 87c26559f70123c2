package eventstore_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

func ExampleVerifyChain() {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first := eventstore.Commit{ID: "a", Workflow: "issue", State: "received", Instance: "acme/widgets/1", Time: at, Data: []byte("opened"), Seq: 1}
	first.Chain = eventstore.NextChain("", first)
	second := eventstore.Commit{ID: "b", Workflow: "issue", State: "implementing", Instance: "acme/widgets/1", Time: at, Data: []byte("moved"), Seq: 2, Prev: 1}
	second.Chain = eventstore.NextChain(first.Chain, second)
	fmt.Println(eventstore.VerifyChain([]eventstore.Commit{first, second}))

	second.Data = []byte("moved elsewhere")
	fmt.Println(errors.Is(eventstore.VerifyChain([]eventstore.Commit{first, second}), eventstore.ErrCorrupt))
	// Output:
	// <nil>
	// true
}
