package merge

import "time"

// Verdict is what a gate says.
type Verdict string

// The four verdicts. Unknown means to wait and read again, never to merge.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Pending Verdict = "pending"
	Unknown Verdict = "unknown"
)

// The gates, in the order of a report.
const (
	GateOpen               = "open"
	GateNotDraft           = "not-draft"
	GateHeadIsOurs         = "head-is-ours"
	GateMergeable          = "mergeable"
	GateBaseFresh          = "base-fresh"
	GateRequiredChecks     = "required-checks"
	GateNoFailingChecks    = "no-failing-checks"
	GateApprovals          = "approvals"
	GateNoChangesRequested = "no-changes-requested"
	GateThreadsResolved    = "threads-resolved"
	GateNoHold             = "no-hold"
	GateMethodAllowed      = "method-allowed"
	GateAcceptance         = "acceptance"
)

// Report is what all gates say about one commit.
type Report struct {
	// Verdict is unknown if any gate's is, else fail, else pending; pass only
	// if every gate passes.
	Verdict Verdict   `json:"verdict"`
	Head    string    `json:"head"`
	ReadAt  time.Time `json:"read_at"`
	Method  string    `json:"method,omitempty"` // to merge by, when one is allowed
	Gates   []Gate    `json:"gates"`
}

// Gate is one condition of a merge.
type Gate struct {
	Name     string     `json:"name"`
	Verdict  Verdict    `json:"verdict"`
	Reason   string     `json:"reason"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence is a fact a gate's verdict rests on.
type Evidence struct {
	What string `json:"what"` // a check, a person, a thread, a label
	Says string `json:"says"`
	URL  string `json:"url,omitempty"` // for people
}

// Gate returns the gate of the name; its verdict is unknown if there is none.
func (r Report) Gate(name string) Gate {
	for _, g := range r.Gates {
		if g.Name == name {
			return g
		}
	}
	return Gate{Name: name, Verdict: Unknown, Reason: "there is no such gate"}
}

// Open are the gates that do not pass.
func (r Report) Open() []Gate {
	var open []Gate
	for _, g := range r.Gates {
		if g.Verdict != Pass {
			open = append(open, g)
		}
	}
	return open
}

// sum is the verdict of all.
func sum(gates []Gate) Verdict {
	worst := Pass
	for _, g := range gates {
		worst = worse(worst, g.Verdict)
	}
	return worst
}

// worse is the verdict that decides of the two.
func worse(a, b Verdict) Verdict {
	for _, v := range []Verdict{Unknown, Fail, Pending, Pass} {
		if a == v || b == v {
			return v
		}
	}
	return Unknown
}
