// Package logcheck reads a log and names everything in it that must not be. It
// knows the events and the tables of the lifecycles and nothing of the engine
// that wrote them: what it finds, the engine did wrong, or somebody else did.
package logcheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Rule names one thing that holds of every log.
type Rule string

// The rules.
const (
	Identity   Rule = "identity"   // the log is the one that its watermark means
	Sequence   Rule = "sequence"   // sequences count from one without a gap
	Alien      Rule = "alien"      // nothing but commits is in the log
	Chain      Rule = "chain"      // each commit follows its instance's last one and is chained to it
	Command    Rule = "command"    // a command's id makes one commit
	Body       Rule = "body"       // a commit holds events that this build can read
	Subject    Rule = "subject"    // a commit is stored under the state it leaves its instance in, or whom it addresses, and wakes if it dispatches
	Time       Rule = "time"       // time within an instance never runs back
	Opening    Rule = "opening"    // an instance is opened once, first, in a state that its definition opens in
	Definition Rule = "definition" // the definition an instance is on is known, and it stays with its lifecycle
	Table      Rule = "table"      // a move is one of its definition's table, or an override
	From       Rule = "from"       // a move leaves, and an event speaks of, the state the instance is in
	Owner      Rule = "owner"      // work goes to, and is claimed by, the role that owns the state
	Overlap    Rule = "overlap"    // nobody claims what another still holds
	Token      Rule = "token"      // the tokens of one instance's claims rise
	Fence      Rule = "fence"      // only the live token extends, reports, hands over or gives back
	Direct     Rule = "direct"     // work is claimed directly by the commit that dispatched it; nothing is dispatched while such a claim lives
	Pause      Rule = "pause"      // nothing is dispatched or claimed while paused
	Asking     Rule = "asking"     // what a role is asked, that role answers; while people are waited for nobody works
	Parking    Rule = "parking"    // what is parked nobody claims
	Deadline   Rule = "deadline"   // a deadline passes once, in its order, and never before it is reached
	Failing    Rule = "failing"    // what a limit turns aside has failed, what a person moves has not
	Document   Rule = "document"   // a section is written by a role that may, and is JSON
	Link       Rule = "link"       // an instance hears once how another ended, and that is how it did
	End        Rule = "end"        // after its end nothing happens to an instance, though things are said about it
)

// Violation is one place where a rule does not hold.
type Violation struct {
	Seq      uint64 `json:"seq"`
	Instance string `json:"instance"`
	Rule     Rule   `json:"rule"`
	Text     string `json:"text"` // what is there, and what should be
}

func (v Violation) String() string {
	return fmt.Sprintf("sequence %d of %q: %s: %s", v.Seq, v.Instance, v.Rule, v.Text)
}

// Interval is a claim as it was held: from the moment of the claim up to, and
// not including, its end: the lease's as last extended, or the report, release,
// move, pause or cancellation that came before.
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

// Report is what was found in a log.
type Report struct {
	Commits    int         `json:"commits"`
	Instances  int         `json:"instances"`
	Violations []Violation `json:"violations"` // in the order of the log; never nil
	Missing    []Gap       `json:"missing"`    // each is a violation of Sequence, too; never nil
	Claims     []Interval  `json:"-"`          // in the order they were made

	// Failures counts the failures in a row at the log's end, by instance and state.
	Failures map[string]map[string]int `json:"-"`
}

// Find returns the definition of a content hash. It is the method Hashed of a
// workflow.Catalog.
type Find func(hash string) (*workflow.Definition, bool)

// Check reads all that is in the log now. Where the store itself says that the
// log is damaged, that is a violation of Sequence, and what lies behind stays
// unread. The error is one of reading, and says nothing about the log.
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
		c.damaged(err)
		err = nil
	}
	return c.Report(), err
}
