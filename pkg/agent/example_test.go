package agent_test

import (
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent"
)

func ExampleErrEscalate() {
	err := fmt.Errorf("check the change: %w", &agent.ErrEscalate{Reason: "no test fails without the change"})
	var people *agent.ErrEscalate
	if errors.As(err, &people) {
		fmt.Println("ask people:", people.Reason)
	}
	// Output: ask people: no test fails without the change
}
