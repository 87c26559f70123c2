package view

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Audit is the JSON of `audit`.
type Audit struct {
	Stream   string    `json:"stream"`
	Identity string    `json:"identity"` // of the log; a mirror has none
	Created  time.Time `json:"created,omitzero"`
	logcheck.Report
	Last      uint64               `json:"last"`      // sequence of the newest commit, from the server
	Watermark uint64               `json:"watermark"` // the newest sequence known to have been in the log; 0: unknown
	Choices   int                  `json:"choices"`   // claims with a choice, in lifecycles with an order
	Urgent    []logcheck.Violation `json:"urgent"`    // claims that passed over a more urgent instance
	Seal      *Seal                `json:"seal,omitempty"`
	Erased    map[string]int       `json:"erased,omitempty"`   // commits whose texts were erased, by the key that signed for the rest
	Exported  *Exported            `json:"exported,omitempty"` // the bundle that was written
	Bundle    *LogBundle           `json:"bundle,omitempty"`   // the bundle that was read
	Seconds   float64              `json:"seconds"`            // duration of the audit
}

// Seal is what is known of a log whose seal holds.
type Seal struct {
	Seq  uint64    `json:"seq"`           // up to which it was sealed; 0: it was not
	Time time.Time `json:"time,omitzero"` // when
	Key  string    `json:"key"`           // public key
	New  uint64    `json:"new,omitempty"` // up to which it is sealed now; 0: as before
}

// String reports that the seal holds, and that it was renewed.
func (s Seal) String() string {
	text := "none before"
	if s.Seq > 0 {
		text = fmt.Sprintf("up to %d as it was at %s", s.Seq, s.Time.Format(time.RFC3339))
	}
	if s.New > 0 {
		text += fmt.Sprintf("; sealed up to %d now", s.New)
	}
	return text + ", by " + s.Key
}

// shown is the number of violations that are printed without --json.
const shown = 100

// Print prints the audit.
func (a Audit) Print(env *term.Env) error {
	if env.JSON {
		if a.Urgent == nil {
			a.Urgent = []logcheck.Violation{}
		}
		return env.Print(a)
	}
	p := page{env}
	if a.Bundle != nil {
		a.Bundle.print(p)
	} else {
		p.field("log", a.which())
	}
	p.field("commits", fmt.Sprintf("%d of %s", a.Commits, Count(a.Instances, "instance")))
	if a.Watermark > 0 {
		p.field("watermark", fmt.Sprintf("it reached at least %d", a.Watermark))
	}
	if a.Seal != nil {
		p.field("seal", a.Seal.String())
	}
	for _, key := range slices.Sorted(maps.Keys(a.Erased)) {
		p.field("erased", fmt.Sprintf("texts of %s, by %s", Count(a.Erased[key], "commit"), key))
	}
	if a.Exported != nil {
		p.field("bundle", a.Exported.String())
	}
	if n := len(a.Urgent); n > 0 {
		p.field("order", fmt.Sprintf("%s, of %d with a choice, went past something more urgent: usual where several orchestrators write, and with --order a violation", Count(n, "claim"), a.Choices))
	}
	if n := len(a.Violations); n > 0 {
		env.Printf("\n")
		for _, v := range a.Violations[:min(n, shown)] {
			env.Printf("%s  %s  %s\n", env.Paint(term.Bad, fmt.Sprintf("%8d", v.Seq)), env.Paint(term.Bold, fmt.Sprintf("%-10s", v.Rule)),
				term.Line(whose(v)))
		}
		if n > shown {
			env.Printf("%8s  and %d more; --json has all\n", "…", n-shown)
		}
		env.Printf("\n")
	} else {
		p.field("found", env.Paint(term.Good, "nothing missing, every chain unbroken, every move permitted, every claim fenced"))
	}
	p.field("took", fmt.Sprintf("%s, %.0f commits/s", term.Duration(time.Duration(a.Seconds*float64(time.Second))),
		float64(a.Commits)/max(a.Seconds, 0.001)))
	return nil
}

// which identifies the log.
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
