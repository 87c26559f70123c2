// Package logcheck checks a log against the rules that hold for every log. It knows
// the events and the lifecycles' tables, and shares no code with the engine.
package logcheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Rule is the name of one rule.
type Rule string

// The rules.
const (
	Identity   Rule = "identity"   // the log is the one of its watermark
	Sealed     Rule = "sealed"     // the log is the one of its seal, as far as that goes
	Sequence   Rule = "sequence"   // sequences count from one without a gap
	Alien      Rule = "alien"      // every message of the log is a commit; one that is not is set aside, and changes nothing
	Damaged    Rule = "damaged"    // every message that says it is a commit can be decoded as one
	Chain      Rule = "chain"      // each commit names its instance's previous one and has the right chain hash
	Command    Rule = "command"    // a command id makes one commit
	Body       Rule = "body"       // a commit has events, and this build can decode them
	Subject    Rule = "subject"    // the subject has the resulting state or the addressee, and is work if the commit dispatches
	Time       Rule = "time"       // time within an instance never decreases
	Opening    Rule = "opening"    // an instance is opened once, first, in an entry of its definition
	Definition Rule = "definition" // the definition of an instance is known, and of its lifecycle
	Table      Rule = "table"      // a move is in the definition's table, or an override
	From       Rule = "from"       // moves leave, and events name, the current state
	Owner      Rule = "owner"      // work is dispatched to, and claimed by, the owner of the state
	Actor      Rule = "actor"      // an agent acts as its role alone, and does what its definition lets the role do; the rest is for people
	Overlap    Rule = "overlap"    // no claim is made while another is live
	Token      Rule = "token"      // the tokens of an instance increase
	Fence      Rule = "fence"      // only the live token extends, reports, saves progress or releases
	Direct     Rule = "direct"     // a direct claim is in the commit that dispatched; nothing is dispatched while it is live
	Pause      Rule = "pause"      // nothing is dispatched or claimed while paused
	Asking     Rule = "asking"     // the inquired role answers; no role works while people are required
	Parking    Rule = "parking"    // parked work is not claimed
	Deadline   Rule = "deadline"   // a deadline is recorded once, in order, and not before it is reached
	Failing    Rule = "failing"    // a move by a limit is a failure, an override is not
	Document   Rule = "document"   // a section is JSON, written by a role that may
	Statement  Rule = "statement"  // evidence is signed by who gives it, who may
	Effect     Rule = "effect"     // what was pushed to the forge is the commit that the work was at
	Gate       Rule = "gate"       // a move passes the gates of its target
	Link       Rule = "link"       // the end of a linked instance is recorded once, and correctly
	End        Rule = "end"        // after the end an instance only has notes, signals and ends of others
)

// Violation is one violation of a rule.
type Violation struct {
	Seq      uint64 `json:"seq"`
	Instance string `json:"instance"`
	Rule     Rule   `json:"rule"`
	Text     string `json:"text"` // what was found, and what was expected
}

func (v Violation) String() string {
	return fmt.Sprintf("sequence %d of %q: %s: %s", v.Seq, v.Instance, v.Rule, v.Text)
}

// Interval is the time a claim was held: from the claim to its end, exclusive. It
// ends with its lease as last extended, or with an earlier report, release, move,
// pause or cancellation.
type Interval struct {
	Seq      uint64 // of the claim
	Instance string
	State    string
	Role     string
	Agent    string
	Token    uint64
	From     time.Time
	To       time.Time
}

// Report is the result of a check.
type Report struct {
	Commits    int         `json:"commits"`
	Instances  int         `json:"instances"`
	Violations []Violation `json:"violations"` // in the order of the log; never nil
	Missing    []Gap       `json:"missing"`    // each is also a violation of Sequence; never nil
	Claims     []Interval  `json:"-"`          // in the order of the log

	// Failures has the failures in a row at the end of the log, by instance and state.
	Failures map[string]map[string]int `json:"-"`
}

// Find returns the definition of a content hash. Catalog.Hashed of pkg/engine/workflow is
// one.
type Find func(hash string) (*workflow.Definition, bool)

// Check checks the log as it is now. If the store reports damage, that is a
// violation of Sequence, and the rest is not read. The error is of reading and says
// nothing about the log.
func Check(ctx context.Context, log eventstore.Store, find Find) (Report, error) {
	c := New(find)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	whole := false
	err := log.Read(reading, 1, func(commit eventstore.Commit) error {
		c.Add(commit)
		return nil
	}, func() { whole = true; stop() })
	switch {
	case whole:
		err = nil
	case errors.Is(err, eventstore.ErrCorrupt):
		c.unreadable(err)
		err = nil
	}
	return c.Report(), err
}
