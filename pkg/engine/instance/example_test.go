package instance_test

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Decide makes events of a command, and Fold makes the state of the events.
func ExampleDecide() {
	def, err := workflow.Builtin("issue")
	if err != nil {
		fmt.Println(err)
		return
	}
	cmd := instance.Command{
		ID: "c1", Instance: "acme/widgets/1", Actor: "operator:ann", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Do: instance.Open{Issue: instance.Issue{Title: "The sum is wrong"}},
	}
	events, err := instance.Decide(def, instance.Instance{}, cmd)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := instance.Fold(cmd.Instance, []instance.Commit{{Seq: 1, ID: cmd.ID, At: cmd.At, Actor: cmd.Actor, Events: events}})
	fmt.Println(in.ID, "is in", in.State, "and belongs to the", in.Owner)
	// Output: acme/widgets/1 is in received and belongs to the pm
}
