package view

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Step is one result that an agent reported.
type Step struct {
	Instance string          `json:"instance"`
	Seq      uint64          `json:"seq"`
	Time     time.Time       `json:"time"`
	State    string          `json:"state"`
	Attempt  int             `json:"attempt"` // which one in its state, from 1
	Role     string          `json:"role"`
	Agent    string          `json:"agent"`
	TookS    float64         `json:"took_s"` // seconds since the claim
	Result   instance.Result `json:"result"`
}

// Steps collects the steps of one instance from its commits, oldest first. The zero Steps
// has none.
type Steps struct {
	attempts map[string]int
	claimed  time.Time
}

// Next returns the steps of a commit.
func (s *Steps) Next(id string, c instance.Commit) (steps []Step) {
	if s.attempts == nil {
		s.attempts = map[string]int{}
	}
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Claimed:
			s.claimed = c.At
		case instance.Reported:
			s.attempts[e.State]++
			steps = append(steps, Step{
				Instance: id, Seq: c.Seq, Time: c.At, State: e.State, Attempt: s.attempts[e.State], Role: e.Role, Agent: e.Agent,
				TookS: c.At.Sub(s.claimed).Seconds(), Result: e.Result,
			})
		}
	}
	return steps
}
