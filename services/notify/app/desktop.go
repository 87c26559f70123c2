package app

import (
	"context"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// desktopName is the name of the target that is a terminal. A file that has it, too, has another.
const desktopName = "(desktop)"

// desktop has a terminal show notifications on its desktop, by the command OSC 9. Terminals that do not know it show nothing.
type desktop struct{ terminal io.Writer }

func (d desktop) send(_ context.Context, n notification, _ string) error {
	// The text could end the command and give another: it has no control characters. One that begins with a digit and a semicolon
	// is another command of some terminals.
	_, err := fmt.Fprintf(d.terminal, "\x1b]9;Signalbox: %s (%s)\x07", sanitize.TerminalLine(n.heading()), sanitize.TerminalLine(n.Instance))
	return err
}
