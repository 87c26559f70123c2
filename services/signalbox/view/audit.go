package view

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/logcheck"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Audit is what was found in a log.
type Audit struct {
	Stream   string    `json:"stream"`
	Identity string    `json:"identity"` // that the log got when it was made; a mirror has none
	Created  time.Time `json:"created,omitzero"`
	logcheck.Report
	Last      uint64               `json:"last"`      // sequence of the newest commit, as the server says
	Watermark uint64               `json:"watermark"` // the log reached at least this far; 0: nothing is known
	Choices   int                  `json:"choices"`   // claims that had something else to choose, in lifecycles with an order
	Urgent    []logcheck.Violation `json:"urgent"`    // claims past something more urgent
	Seconds   float64              `json:"seconds"`   // that the reading took
}

// shown is how many violations people are shown.
const shown = 100

// Print prints it.
func (a Audit) Print(env *term.Env) error {
	if env.JSON {
		if a.Urgent == nil {
			a.Urgent = []logcheck.Violation{}
		}
		return env.Print(a)
	}
	p := page{env}
	p.field("log", a.which())
	p.field("commits", fmt.Sprintf("%d of %s", a.Commits, Count(a.Instances, "instance")))
	if a.Watermark > 0 {
		p.field("watermark", fmt.Sprintf("it reached at least %d", a.Watermark))
	}
	if n := len(a.Urgent); n > 0 {
		p.field("order", fmt.Sprintf("%s, of %d with a choice, went past something more urgent: usual where several orchestrators write, and with --order a violation", Count(n, "claim"), a.Choices))
	}
	if n := len(a.Violations); n > 0 {
		env.Printf("\n")
		for _, v := range a.Violations[:min(n, shown)] {
			env.Printf("%s  %s  %s\n", env.Paint(term.Bad, fmt.Sprintf("%8d", v.Seq)), env.Paint(term.Bold, fmt.Sprintf("%-10s", v.Rule)), term.Line(whose(v)))
		}
		if n > shown {
			env.Printf("%8s  and %d more; --json has all\n", "…", n-shown)
		}
		env.Printf("\n")
	} else {
		p.field("found", env.Paint(term.Good, "nothing missing, every chain unbroken, every move permitted, every claim fenced"))
	}
	p.field("took", fmt.Sprintf("%s, %.0f commits/s", term.Duration(time.Duration(a.Seconds*float64(time.Second))), float64(a.Commits)/max(a.Seconds, 0.001)))
	return nil
}

func (a Audit) which() string {
	switch {
	case a.Created.IsZero():
		return "stream " + a.Stream + ", which is gone"
	case a.Identity == "":
		return fmt.Sprintf("stream %s, made %s", a.Stream, a.Created.Format(time.RFC3339))
	}
	return fmt.Sprintf("stream %s, identity %s, made %s", a.Stream, a.Identity, a.Created.Format(time.RFC3339))
}

func whose(v logcheck.Violation) string {
	if v.Instance == "" {
		return v.Text
	}
	return v.Instance + ": " + v.Text
}
