// Package narrator prints what happens to an instance while it happens: a line for
// each move and for work in progress. It uses colours on a terminal.
package narrator

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// Narrator writes lines. It is safe for concurrent use and implements
// agent.Observer.
type Narrator struct {
	mu    sync.Mutex
	p     printer
	clock *clock // nil: there is none
}

// New returns a narrator whose times count from now. Its lines have at most width
// characters; 0 is no limit. Texts that are quoted are wrapped.
func New(out io.Writer, colour bool, width int) *Narrator {
	return &Narrator{p: printer{out: out, colour: colour, width: width, started: time.Now(), entered: map[string]time.Time{}}}
}

// Passing leaves out, from now on, the beginning of the URLs of a server that ends with
// this process: nobody could open them.
func (n *Narrator) Passing(server string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.p.passing = strings.TrimRight(server, "/") + "/"
}

// Say writes a line.
func (n *Narrator) Say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintln(n.p.out, sanitize.Terminal(fmt.Sprintf(format, args...)))
}

// Title writes a heading.
func (n *Narrator) Title(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(n.p.out, "\n%s\n", n.p.paint(bold, sanitize.Terminal(fmt.Sprintf(format, args...))))
}

// Quote writes a text indented.
func (n *Narrator) Quote(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, line := range sanitize.Lines(strings.TrimSpace(text)) {
		for part := range strings.SplitSeq(term.Wrap(line, n.p.width-quoteMargin), "\n") {
			fmt.Fprintf(n.p.out, "          %s %s\n", n.p.paint(dim, "│"), part)
		}
	}
}

// Commit narrates the events of one commit.
func (n *Narrator) Commit(c client.LogEntry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.p.commit(c)
}

// Started implements agent.Observer.
func (n *Narrator) Started(agent.Job) {}

// Progressed implements agent.Observer.
func (n *Narrator) Progressed(job agent.Job, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text = strings.TrimSuffix(first(text), "…")
	n.p.row(dim, "    "+job.State, job.Role, "", dim, text+" …")
	n.clock.begin(text)
}

// Ended implements agent.Observer. It narrates faults. A question or an escalation is
// no fault: its commit is narrated.
func (n *Narrator) Ended(job agent.Job, _ instance.Result, err error, _ time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock.end()
	if err != nil && !agent.NeedsOthers(err) {
		n.p.line(red, "    "+job.State, job.Role, "", first(err.Error()))
	}
}

// Mute discards all further lines. It is called when the process is interrupted.
func (n *Narrator) Mute() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock.end()
	n.p.out = io.Discard
}

// printer writes the lines of a Narrator, which serializes the calls.
type printer struct {
	passing string // the beginning of URLs that is left out; empty: none is
	out     io.Writer
	colour  bool
	width   int // of a line; 0: no limit
	started time.Time
	entered map[string]time.Time // by instance: when it entered its state
}

const (
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (p *printer) paint(code, text string) string {
	if !p.colour || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// line writes one line in columns: when, what, who, how long, why.
func (p *printer) line(code, what, who, took, why string) {
	p.row(code, what, who, took, "", why)
}

// Widths of the columns, in characters.
const (
	whatWidth    = 40
	minWhatWidth = 24
	fixedWidth   = 33 // of the other columns but the last, and the gaps
	whyWidth     = 40 // that the last column has before the first is cut
)

// row writes a line whose last column has a colour of its own.
func (p *printer) row(code, what, who, took, whyCode, why string) {
	words := strings.TrimLeft(what, " ")
	if p.passing != "" {
		why = strings.ReplaceAll(why, p.passing, "")
	}
	what, who, why = what[:len(what)-len(words)]+term.Line(words), term.Line(who), term.Line(why)
	at, wide := fmt.Sprintf("%6.1fs", time.Since(p.started).Seconds()), whatWidth
	if p.width > 0 {
		wide = min(max(p.width-fixedWidth-whyWidth, minWhatWidth), whatWidth)
		what = term.Cut(what, wide)
		why = term.Cut(why, max(p.width-fixedWidth-wide, 1))
	}
	line := fmt.Sprintf("%s  %s  %s %s  %s", p.paint(dim, at), p.paint(code, pad(what, wide)), pad(who, 10),
		p.paint(dim, fmt.Sprintf("%7s", took)), p.paint(whyCode, why))
	fmt.Fprintln(p.out, strings.TrimRight(line, " "))
}

// quoteMargin is the width of what is before a quoted line.
const quoteMargin = 12

func pad(s string, width int) string {
	if d := width - len([]rune(s)); d > 0 {
		return s + strings.Repeat(" ", d)
	}
	return s
}

// commit narrates the events of one commit. An event without a case is narrated by its
// name and text, as history prints it.
func (p *printer) commit(c client.LogEntry) {
	who, said, branch, answered := "", "", "", false
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Opened:
			p.entered[c.Instance] = c.At
			p.line(cyan, "→ "+e.State, c.Actor, "", "“"+e.Issue.Title+"”")
		case instance.Reported:
			who, said, branch = e.Role, first(e.Result.Summary), e.Result.Data["branch"]
		case instance.Signalled:
			who = e.Actor
		case instance.StatementRefused:
			p.line(yellow, "  "+e.What+" set aside", e.Agent, "", e.Role+" may not give "+e.Name+"; it may come from "+strings.Join(e.Permitted,
				", "))
		case instance.GateRefused:
			p.line(yellow, "  gate "+e.Gate, "", "", e.Reason)
		case instance.ProposalRefused:
			p.line(yellow, "  proposal refused", "", "", e.Proposed+" is not permitted from "+e.From)
		case instance.LoopDetected:
			p.line(yellow, "  loop", "", "", e.Reason)
		case instance.Moved:
			took := ""
			if since, ok := p.entered[c.Instance]; ok {
				took = Duration(c.At.Sub(since))
			}
			p.entered[c.Instance] = c.At
			why := e.Reason
			switch {
			case p.passing != "" && branch != "" && e.Kind == workflow.Final && !e.Failure:
				why = "ready: branch " + branch // the pull request ends with the forge
			case said != "":
				why += ": " + said
			}
			p.line(moveColour(e), "→ "+e.To, who, took, why)
		case instance.Paused:
			p.line(yellow, "  paused", c.Actor, "", e.Reason)
		case instance.CancelledBy:
			p.line(red, "  cancelled", c.Actor, "", e.Reason)
		case instance.Asked:
			if e.To != "" {
				p.line(yellow, "  asks "+e.To, e.From, "", first(e.Text))
			}
		case instance.Answered:
			if said != "" && !answered { // an answer of a role; answers of people are quoted
				p.line(green, "  answers", who, "", said)
			}
			answered = true // one report may answer several questions
		case instance.Escalated:
			p.line(yellow, "  put to people", e.Agent, "", first(e.Reason))
		case instance.DayRaised:
			p.line(green, "  day's budget raised", e.By, "", e.Budget+" by "+view.RaisedDay(e.USD, e.Tokens, e.WallMS))
		case instance.BudgetRaised:
			p.line(green, "  budget raised", e.By, "", view.Raised(e.USD, e.Tokens))
		case instance.Resolved:
			p.line(green, "  resolved", e.By, "", first(e.Text))
		case instance.TimedOut:
			p.line(yellow, "  "+string(e.Level), "", Duration(e.After), "in "+e.State+" for longer than it should take")
		case instance.ParkedUntil:
			p.line(dim, "  waits", "", "", e.Reason)
		case instance.Spawned:
			p.line(cyan, "  opens "+e.Workflow, "", "", e.Instance)
		case instance.Claimed, instance.LeaseExtended, instance.Released, instance.Dispatched, instance.Noted, instance.Spent,
			instance.Resumed, instance.Handed, instance.Remembered, instance.Woken, instance.LinkEnded, instance.Migrated:
			// Not narrated: a line of another event tells what matters to people.
		default:
			v := view.Events(c.Instance, "", instance.Commit{Events: []instance.Event{e}})[0]
			p.line(dim, "  "+strings.ReplaceAll(v.Event, "_", " "), c.Actor, "", first(v.Reason))
		}
	}
}

// moveColour returns the colour of a move.
func moveColour(m instance.Moved) string {
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

// first returns the first line of a text, shortened and safe to print.
func first(s string) string {
	s = term.Line(sanitize.Lines(strings.TrimSpace(s))[0])
	if r := []rune(s); len(r) > 100 {
		s = string(r[:99]) + "…"
	}
	return s
}

// Duration formats d.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
