// Package narrator tells people what happens, as it happens: one line a move,
// one line for work under way. Colour on a terminal, plain text in a pipe.
package narrator

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Narrator writes lines. It is safe for concurrent use and implements
// agent.Observer.
type Narrator struct {
	mu      sync.Mutex
	out     io.Writer
	colour  bool
	started time.Time
	entered map[string]time.Time // by instance: when its state began
}

// New returns a narrator that counts time from now.
func New(out io.Writer, colour bool) *Narrator {
	return &Narrator{out: out, colour: colour, started: time.Now(), entered: map[string]time.Time{}}
}

const (
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (n *Narrator) paint(code, text string) string {
	if !n.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Say writes a line of the narrator's own.
func (n *Narrator) Say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(n.out, format+"\n", args...)
}

// Title writes a heading.
func (n *Narrator) Title(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(n.out, "\n%s\n", n.paint(bold, fmt.Sprintf(format, args...)))
}

// Quote writes a text that somebody said, indented.
func (n *Narrator) Quote(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintf(n.out, "          %s %s\n", n.paint(dim, "│"), strings.TrimRight(line, "\r\n"))
	}
}

// line writes one aligned line: when, what, who, how long, why.
func (n *Narrator) line(code, what, who, took, why string) {
	at := fmt.Sprintf("%6.1fs", time.Since(n.started).Seconds())
	fmt.Fprintf(n.out, "%s  %s  %s %s  %s\n", n.paint(dim, at), n.paint(code, pad(what, 40)), pad(who, 10), n.paint(dim, fmt.Sprintf("%7s", took)), why)
}

func pad(s string, width int) string {
	if d := width - len([]rune(s)); d > 0 {
		return s + strings.Repeat(" ", d)
	}
	return s
}

// Commit narrates one commit: its moves, and what turned them aside.
func (n *Narrator) Commit(c client.LogEntry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	who, said := "", ""
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Opened:
			n.entered[c.Instance] = c.At
			n.line(cyan, "→ "+e.State, c.Actor, "", "“"+e.Issue.Title+"”")
		case instance.Reported:
			who, said = e.Role, first(e.Result.Summary)
		case instance.Signalled:
			who = e.Actor
		case instance.GateRefused:
			n.line(yellow, "  gate "+e.Gate, "", "", e.Reason)
		case instance.ProposalRefused:
			n.line(yellow, "  proposal refused", "", "", e.Proposed+" is not permitted from "+e.From)
		case instance.LoopDetected:
			n.line(yellow, "  loop", "", "", e.Reason)
		case instance.Moved:
			took := ""
			if since, ok := n.entered[c.Instance]; ok {
				took = Duration(c.At.Sub(since))
			}
			n.entered[c.Instance] = c.At
			why := e.Reason
			if said != "" {
				why += ": " + said
			}
			n.line(colour(e), "→ "+e.To, who, took, why)
		case instance.Paused:
			n.line(yellow, "  paused", c.Actor, "", e.Reason)
		case instance.CancelledBy:
			n.line(red, "  cancelled", c.Actor, "", e.Reason)
		case instance.Asked:
			if e.To != "" {
				n.line(yellow, "  asks "+e.To, e.From, "", first(e.Text))
			}
		case instance.Answered:
			if said != "" { // by another role: people's answers are quoted
				n.line(green, "  answers", who, "", said)
			}
		case instance.Escalated:
			n.line(yellow, "  put to people", e.Agent, "", first(e.Reason))
		case instance.Resolved:
			n.line(green, "  resolved", e.By, "", first(e.Text))
		case instance.TimedOut:
			n.line(yellow, "  "+string(e.Level), "", Duration(e.After), "in "+e.State+" for longer than it should take")
		case instance.ParkedUntil:
			n.line(dim, "  waits", "", "", e.Reason)
		case instance.Spawned:
			n.line(cyan, "  opens "+e.Workflow, "", "", e.Instance)
		}
	}
}

func colour(m instance.Moved) string {
	switch {
	case m.Failure:
		return red
	case m.Kind == workflow.Final:
		return green
	case m.Kind == workflow.Wait:
		return yellow
	}
	return cyan
}

// Started implements agent.Observer.
func (n *Narrator) Started(agent.Job) {}

// Progressed implements agent.Observer.
func (n *Narrator) Progressed(job agent.Job, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.line(dim, "    "+job.State, job.Role, "", n.paint(dim, first(text)+" …"))
}

// Ended implements agent.Observer. Who asks others has no fault to tell of: the
// commit says what is asked.
func (n *Narrator) Ended(job agent.Job, _ instance.Result, err error, _ time.Duration) {
	if err != nil && !agent.Pleads(err) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.line(red, "    "+job.State, job.Role, "", first(err.Error()))
	}
}

// Mute ends the story: what follows is only the process going down.
func (n *Narrator) Mute() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.out = io.Discard
}

// first is a text's first line, cut to fit one, without what a terminal would obey.
func first(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = term.Line(s)
	if r := []rune(s); len(r) > 100 {
		s = string(r[:99]) + "…"
	}
	return s
}

// Duration is d as people read it.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
