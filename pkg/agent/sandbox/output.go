package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxLine limits the bytes of a line that the callback gets.
const maxLine = 4 << 10

// sink receives the output of a command. Its methods may be called from several
// goroutines.
type sink struct {
	mu      sync.Mutex
	capture capture
	line    []byte
	each    func(string)
	out     io.Writer
	err     io.Writer
	idle    *time.Timer
	limit   time.Duration
}

func newSink(c Command, idle *time.Timer) *sink {
	return &sink{
		capture: capture{half: max(c.MaxOutput/2, 1)},
		each:    c.Line,
		out:     c.Stdout,
		err:     c.Stderr,
		idle:    idle,
		limit:   c.Idle,
	}
}

func (s *sink) stdout(p []byte) { s.write(p, s.out) }
func (s *sink) stderr(p []byte) { s.write(p, s.err) }

func (s *sink) write(p []byte, tee io.Writer) {
	if len(p) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit > 0 {
		s.idle.Reset(s.limit)
	}
	s.capture.write(p)
	if tee != nil {
		_, _ = tee.Write(p)
	}
	if s.each != nil {
		s.lines(p)
	}
}

func (s *sink) lines(p []byte) {
	for {
		head, rest, found := bytes.Cut(p, []byte("\n"))
		s.line = append(s.line, head[:min(len(head), maxLine-len(s.line))]...)
		if !found {
			return
		}
		s.flush()
		p = rest
	}
}

func (s *sink) flush() {
	s.each(string(bytes.TrimSuffix(s.line, []byte("\r"))))
	s.line = s.line[:0]
}

// finish returns the captured output and the number of dropped bytes.
func (s *sink) finish() ([]byte, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.line) > 0 {
		s.flush()
	}
	return s.capture.bytes()
}

// capture keeps the first and the last bytes written to it, half each, in bounded
// memory.
type capture struct {
	half  int
	head  []byte
	tail  []byte // up to twice half between trims
	total int64
}

func (c *capture) write(p []byte) {
	c.total += int64(len(p))
	n := min(len(p), c.half-len(c.head))
	c.head = append(c.head, p[:n]...)
	p = p[n:]
	if over := len(p) - c.half; over > 0 {
		p = p[over:]
	}
	c.tail = append(c.tail, p...)
	if len(c.tail) > 2*c.half {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.half:]...)
	}
}

func (c *capture) bytes() ([]byte, int64) {
	tail := c.tail[max(len(c.tail)-c.half, 0):]
	dropped := c.total - int64(len(c.head)+len(tail))
	out := bytes.Clone(c.head)
	if dropped > 0 {
		out = fmt.Appendf(out, "\n[… %d bytes left out …]\n", dropped)
	}
	return append(out, tail...), dropped
}
