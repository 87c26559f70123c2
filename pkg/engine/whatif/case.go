package whatif

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Landing is where a decision leaves an instance.
type Landing struct {
	State  string `json:"state"`
	Then   Then   `json:"then"`
	Role   string `json:"role,omitempty"` // that works next
	Reason string `json:"reason,omitempty"`
}

// Then is what follows a decision.
type Then string

// Values of Then.
const (
	Ends  Then = "ends"
	Asks  Then = "asks"  // people are waited for
	Works Then = "works" // a role has the work
	Rests Then = "rests" // parked, or paused
)

// landing returns where an instance is after events, and the reason of the newest that has one.
func landing(in instance.Instance, events []instance.Event) Landing {
	l := Landing{State: in.State, Role: in.Worker()}
	switch {
	case in.Closed != "":
		l.Then, l.Role = Ends, ""
	case in.WaitsForPeople():
		l.Then = Asks
	case in.Paused, in.Parked != nil:
		l.Then = Rests
	case l.Role != "":
		l.Then = Works
	default:
		l.Then = Rests // it waits for other instances, or for the forge
	}
	for _, e := range events {
		switch e := e.(type) {
		case instance.Moved:
			l.Reason = e.Reason
		case instance.Escalated:
			l.Reason = e.Reason
		case instance.Paused:
			l.Reason = e.Reason
		case instance.ParkedUntil:
			l.Reason = e.Reason
		}
	}
	return l
}

// Case is what another definition would have changed for one instance.
type Case struct {
	Instance string    `json:"instance"`
	Workflow string    `json:"workflow"`
	Repo     string    `json:"repo,omitempty"`
	Opened   time.Time `json:"opened"`
	Commits  int       `json:"commits"`
	// Seq is the first commit that is decided otherwise, or from which nothing is known. 0: none.
	Seq      uint64    `json:"seq,omitempty"`
	At       time.Time `json:"at,omitzero"`
	By       string    `json:"by,omitempty"` // the actor of the commit
	Unknown  string    `json:"unknown,omitempty"`
	Recorded Landing   `json:"recorded,omitzero"`
	Instead  Landing   `json:"instead,omitzero"`
	Tail     Tail      `json:"tail,omitzero"`
	// Ended is the state that the record ends in; empty: it has not ended.
	Ended string `json:"ended,omitempty"`
}

// Tail is the part of the record that follows a difference.
type Tail struct {
	Moves     int           `json:"moves"`
	Steps     int           `json:"steps"`     // results of agents
	Questions int           `json:"questions"` // to people, escalations included
	USD       float64       `json:"usd"`
	Tokens    int64         `json:"tokens"`
	Time      time.Duration `json:"time_ns"`
}

// Same reports that nothing would have been decided otherwise.
func (c Case) Same() bool { return c.Seq == 0 }

// count adds a commit to the counts, and to the tail if a decision before it differs.
func (c *Case) count(commit instance.Commit, after bool) {
	c.Commits++
	for _, e := range commit.Events {
		switch e := e.(type) {
		case instance.Opened:
			c.Workflow, c.Repo, c.Opened = e.Workflow, e.Issue.Repo, commit.At
		case instance.Moved:
			if c.Ended = ""; e.Kind == workflow.Final {
				c.Ended = e.To
			}
		case instance.CancelledBy:
			c.Ended = "cancelled"
		}
	}
	if after {
		c.Tail.add(commit)
		c.Tail.Time = max(c.Tail.Time, commit.At.Sub(c.At))
	}
}

func (t *Tail) add(commit instance.Commit) {
	for _, e := range commit.Events {
		switch e := e.(type) {
		case instance.Moved:
			t.Moves++
		case instance.Reported:
			t.Steps++
			t.spend(e.Result.Spend)
		case instance.Spent:
			t.spend(e.Spend)
		case instance.Asked:
			if e.To == "" {
				t.Questions++
			}
		case instance.Escalated:
			if e.RequiresHuman {
				t.Questions++
			}
		}
	}
}

func (t *Tail) spend(c instance.Cost) {
	t.USD += c.USD
	t.Tokens += c.TokensIn + c.TokensOut
}
