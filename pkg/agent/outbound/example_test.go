package outbound_test

import (
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret"
)

func ExampleChecker_Text() {
	secrets, err := secret.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	check := outbound.New(outbound.DefaultRules(), secrets)
	refusal := new(outbound.Refusal)
	fmt.Println(check.Text(outbound.Text{What: "comment", Body: "The sum is right now."}))
	fmt.Println(errors.As(check.Text(outbound.Text{What: "comment", Body: "@ann, look at this"}), &refusal))
	// Output:
	// <nil>
	// true
}
