package sanitize_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

func ExampleMarkdown() {
	fmt.Println(sanitize.Markdown("@ann, this fixes #7. `@ann` is code."))
	// Output: @ ann, this fixes # 7. `@ann` is code.
}

func ExampleTerminalLine() {
	fmt.Println(sanitize.TerminalLine("a title \x1b[2J\nof two lines"))
	// Output: a title ‹U+001B›[2J of two lines
}
