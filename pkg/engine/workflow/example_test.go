package workflow_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func ExampleLoad() {
	d, err := workflow.Load("review.yaml", []byte(`
workflow: review
version: 1
initial: reading
states:
  reading:
    about: The reviewer reads the change.
    owner: reviewer
    work: {}
    next: [accepted, rejected]
    decide:
      - {when: result.status == 'success', to: accepted, reason: the reviewer accepts it}
      - {to: rejected, reason: the reviewer does not accept it, failure: true}
  accepted: {about: The change is accepted., final: true}
  rejected: {about: The change is not accepted., final: true}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Permits("reading", "accepted"), d.Permits("accepted", "reading"))
	// Output: true false
}
