package term

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// ReadLine reads one line of Stdin. The end of the input is an empty line. A read of a
// terminal cannot be cancelled: if ctx ends first, the next line is lost and the
// goroutine stays until the process ends.
func (e *Env) ReadLine(ctx context.Context) (string, error) {
	if e.lines == nil {
		e.lines = bufio.NewReader(e.Stdin)
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := e.lines.ReadString('\n')
		read <- line{strings.TrimRight(text, "\r\n"), err}
	}()
	select {
	case l := <-read:
		if errors.Is(l.err, io.EOF) {
			l.err = nil
		}
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
