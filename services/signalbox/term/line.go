package term

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

type line struct {
	text string
	err  error
}

// ReadLine reads one line of Stdin. The end of the input is an empty line. A read of a
// terminal cannot be cancelled: if ctx ends first, the goroutine stays, and the next call gets
// its line. One goroutine calls it.
func (e *Env) ReadLine(ctx context.Context) (string, error) {
	if e.lines == nil {
		e.lines = bufio.NewReader(e.Stdin)
	}
	if e.read == nil {
		read := make(chan line, 1)
		go func() {
			text, err := e.lines.ReadString('\n')
			read <- line{strings.TrimRight(text, "\r\n"), err}
		}()
		e.read = read
	}
	select {
	case l := <-e.read:
		e.read = nil
		if errors.Is(l.err, io.EOF) {
			l.err = nil
		}
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
