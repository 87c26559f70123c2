package workflow

import "time"

// Level is how far past its timeout a stay in a state is.
type Level string

// Levels, in the order they are reached (task lifecycle, timeout actions).
const (
	Warning    Level = "warning"
	Alert      Level = "alert"
	Escalation Level = "escalation"
)

// Deadline is a moment of a stay that is worth knowing, After the state was entered.
type Deadline struct {
	Level    Level
	After    time.Duration
	Reaction string // the name in On that it calls
}

// Deadlines returns the state's deadlines, earliest first; none without a timeout.
// Policy warn_at, alert_at and escalate_at are fractions of it: 0.8, 1 and 1.5.
func (d *Definition) Deadlines(s State) []Deadline {
	if s.Timeout == 0 {
		return nil
	}
	at := func(name string, otherwise float64) time.Duration {
		if f, ok := d.Policy[name].(float64); ok {
			otherwise = f
		}
		return time.Duration(float64(s.Timeout) * otherwise)
	}
	return []Deadline{
		{Warning, at("warn_at", 0.8), OnWarning},
		{Alert, at("alert_at", 1), OnAlert},
		{Escalation, at("escalate_at", 1.5), OnEscalation},
	}
}
