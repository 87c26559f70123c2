package subject_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

func ExampleParseEvent() {
	s, err := subject.Event{Workflow: "issue", State: "implementing", Instance: "acme/widgets/1", Wakes: true}.Subject()
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := subject.ParseEvent(s)
	fmt.Println(s, e.Instance, err)
	// Output: sb.evt.work.issue.implementing.acme/widgets/1 acme/widgets/1 <nil>
}
