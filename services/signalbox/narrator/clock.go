package narrator

import (
	"fmt"
	"io"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// clockPause is how long a line stands still before it gets a clock, and how long each
// reading of the clock stands.
const clockPause = 5 * time.Second

// clock shows, below the newest line of a terminal, how long the present step takes. The next
// line takes its place. Its methods may be called of a nil one; the Narrator serializes them.
type clock struct {
	out   io.Writer
	width int
	text  string // the step; empty: none is under way
	since time.Time
	shown bool
}

// Clock shows how long a step takes that is narrated and takes longer than five seconds, on
// the terminal that the narrator writes to. The caller must call stop.
func (n *Narrator) Clock() (stop func()) {
	n.mu.Lock()
	n.clock = &clock{out: n.p.out, width: n.p.width}
	n.p.out = n.clock
	n.mu.Unlock()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(clockPause)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				n.mu.Lock()
				n.clock.show()
				n.mu.Unlock()
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		n.mu.Lock()
		defer n.mu.Unlock()
		n.clock.end()
	}
}

// begin starts the clock of a step.
func (c *clock) begin(text string) {
	if c != nil {
		c.text, c.since = text, time.Now()
	}
}

// end takes the clock away.
func (c *clock) end() {
	if c != nil {
		c.text = ""
		c.erase()
	}
}

func (c *clock) show() {
	if c.text == "" {
		return
	}
	c.erase()
	took := fmt.Sprintf(" %d s", int(time.Since(c.since).Seconds()))
	text := "          " + c.text + "…"
	if c.width > 0 {
		text = term.Cut(text, max(c.width-len(took)-1, 1))
	}
	_, _ = fmt.Fprint(c.out, text+took)
	c.shown = true
}

func (c *clock) erase() {
	if c.shown {
		_, _ = fmt.Fprint(c.out, "\r\x1b[2K")
		c.shown = false
	}
}

// Write writes a line in place of the clock.
func (c *clock) Write(p []byte) (int, error) {
	c.erase()
	return c.out.Write(p)
}
