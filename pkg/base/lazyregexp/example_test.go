package lazyregexp_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

func ExampleNew() {
	number := lazyregexp.New(`#(\d+)`) // compiles at the first use
	fmt.Println(number.FindStringSubmatch("fixes #42")[1])
	// Output: 42
}
