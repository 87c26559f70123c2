package task

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// State is what is known of a task (task lifecycle, state metadata).
type State struct {
	ID            string       `json:"id"`
	Title         string       `json:"title"`
	CurrentState  string       `json:"currentState"`
	PreviousState string       `json:"previousState,omitempty"`
	AssignedAgent string       `json:"assignedAgent,omitempty"`
	FailureCount  int          `json:"failureCount"` // in a row, in the state with most
	CTOAttempts   int          `json:"ctoAttempts"`
	Failed        bool         `json:"failed,omitempty"`        // people abandoned it (task lifecycle, abandon)
	FailureReason string       `json:"failureReason,omitempty"` // theirs
	StateHistory  []Transition `json:"stateHistory,omitempty"`
	CreatedAt     time.Time    `json:"createdAt"`
	UpdatedAt     time.Time    `json:"updatedAt"`
	TimeInState   float64      `json:"timeInState"` // minutes
	Metrics       Metrics      `json:"metrics"`
}

// Transition is one move (task lifecycle, StateTransition).
type Transition struct {
	FromState string    `json:"fromState"`
	ToState   string    `json:"toState"`
	Timestamp time.Time `json:"timestamp"`
	Reason    string    `json:"reason"`
	Actor     string    `json:"actor"`
}

// Metrics is where a task's time went, in minutes (task lifecycle, TimeMetrics).
type Metrics struct {
	StateEnteredAt time.Time          `json:"stateEnteredAt"`
	TimeInState    float64            `json:"timeInState"`
	TotalTaskTime  float64            `json:"totalTaskTime"`
	TimeByState    map[string]float64 `json:"timeByState"`
}

// Of is the task that the commits make, at the time now. A task that has ended
// stands still.
func Of(id string, commits []instance.Commit, now time.Time) State {
	in := instance.Fold(id, commits)
	if in.Closed != "" || now.Before(in.UpdatedAt) {
		now = in.UpdatedAt
	}
	t := translate(id, commits)
	s := State{
		ID: id, Title: in.Issue.Title, CurrentState: in.State, CTOAttempts: t.tries, StateHistory: Transitions(t.out),
		CreatedAt: in.OpenedAt, UpdatedAt: in.UpdatedAt,
		TimeInState: now.Sub(in.EnteredAt).Minutes(),
	}
	if in.Closed == instance.Cancelled {
		s.Failed, s.FailureReason = true, in.Reason
	}
	for _, state := range in.Previous.Last(1) {
		s.PreviousState = state
	}
	if worker := in.Worker(); worker != "" {
		s.AssignedAgent = Agent(worker)
	}
	for _, f := range in.Failures {
		s.FailureCount = max(s.FailureCount, f.Count)
	}
	s.Metrics = Metrics{in.EnteredAt, s.TimeInState, now.Sub(in.OpenedAt).Minutes(), map[string]float64{}}
	for _, v := range in.Visits {
		s.Metrics.TimeByState[v.State] = v.Total.Minutes()
	}
	s.Metrics.TimeByState[in.State] += s.TimeInState
	return s
}

// Transitions are the moves among events.
func Transitions(events []Event) []Transition {
	var moves []Transition
	for _, e := range events {
		if e.Event == StateTransition && e.From != "" {
			moves = append(moves, Transition{e.From, e.To, e.Timestamp, e.Reason, e.Actor})
		}
	}
	return moves
}
