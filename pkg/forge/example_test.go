package forge_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/forge"
)

func ExampleWithUrgency() {
	ctx := forge.WithUrgency(context.Background(), forge.Urgent) // a merge: its requests stop last
	fmt.Println(forge.UrgencyOf(ctx) == forge.Urgent, forge.UrgencyOf(context.Background()) == forge.Ordinary)
	// Output: true true
}
