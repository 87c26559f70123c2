package secret_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/base/secret"
)

func ExampleScanner_Redact() {
	s, err := secret.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.With("correct-horse-battery").Redact("log in with correct-horse-battery"))
	// Output: log in with [redacted: own-credential]
}
