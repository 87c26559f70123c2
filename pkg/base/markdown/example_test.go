package markdown_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/base/markdown"
)

func ExampleHTML() {
	html, err := markdown.HTML([]byte("**The sum** is wrong. <script>alert(1)</script>"))
	fmt.Print(html, err)
	// Output:
	// <p><strong>The sum</strong> is wrong. &lt;script&gt;alert(1)&lt;/script&gt;</p>
	// <nil>
}
