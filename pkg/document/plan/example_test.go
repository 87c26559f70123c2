package plan_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/document/plan"
)

func ExampleParse() {
	p, err := plan.Parse("plan.md", []byte("# Greetings\n\n- [ ] HELLO: Say hello\n- [x] README: Write the README\n- [ ] BYE: Say goodbye\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range p.Tasks {
		fmt.Println(t.ID, t.Title)
	}
	// Output:
	// HELLO Say hello
	// BYE Say goodbye
}
