package subject

import "fmt"

const (
	// TimerStream is the name of the stream of durable timers.
	TimerStream = "TIMERS"
	// Timers is what the timers' stream captures.
	Timers = timerPrefix + ">"
	// ArmedTimers is the filter of the timers that wait for their time.
	ArmedTimers = timerPrefix + armed + ".>"
	// FiredTimers is the filter of the timers that are due.
	FiredTimers = timerPrefix + fired + ".>"
	// TimerConsumer is the durable consumer of what is due, and of nothing else.
	TimerConsumer = "timers"

	timerPrefix = "sb.timer."
	armed       = "armed"
	fired       = "fired"
)

// Timer is one timer: an instance has at most one of each kind.
type Timer struct {
	Kind     string // a name
	Instance string // the id, not escaped
	Fired    bool   // it is due; otherwise it waits
}

// Subject returns t as a subject, or ErrInvalid.
func (t Timer) Subject() (string, error) {
	if err := CheckName(t.Kind); err != nil {
		return "", err
	}
	if err := CheckInstance(t.Instance); err != nil {
		return "", err
	}
	phase := armed
	if t.Fired {
		phase = fired
	}
	return timerPrefix + phase + "." + t.Kind + "." + Escape(t.Instance), nil
}

// ParseTimer is the inverse of Timer.Subject.
func ParseTimer(s string) (Timer, error) {
	t, err := cut(s, timerPrefix, 3)
	if err != nil {
		return Timer{}, err
	}
	if t[0] != armed && t[0] != fired {
		return Timer{}, fmt.Errorf("%w: %q, want %s or %s after %s", ErrInvalid, s, armed, fired, timerPrefix)
	}
	if err := CheckName(t[1]); err != nil {
		return Timer{}, err
	}
	id, err := Unescape(t[2])
	return Timer{Kind: t[1], Instance: id, Fired: t[0] == fired}, err
}
