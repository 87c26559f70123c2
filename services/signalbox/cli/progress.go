package cli

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// progress shows a person how far a log is read, on a line that is written over.
type progress struct {
	env   *term.Env
	what  string
	of    uint64
	next  time.Time
	shown bool
}

// showProgress begins to count up to a sequence. It shows nothing in the first second.
func showProgress(env *term.Env, what string, of uint64) *progress {
	return &progress{env: env, what: what, of: of, next: env.Now().Add(time.Second)}
}

// at notes the sequence that was read.
func (p *progress) at(seq uint64) {
	if !p.env.Clock || seq%256 != 0 {
		return
	}
	if now := p.env.Now(); now.After(p.next) {
		p.next, p.shown = now.Add(200*time.Millisecond), true
		fmt.Fprintf(p.env.Stderr, "\r  %s %d of %d commits", p.what, seq, p.of)
	}
}

// end removes the line.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.env.Stderr, "\r\x1b[K")
	}
}
