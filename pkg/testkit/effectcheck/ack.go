package effectcheck

import "fmt"

// Ack is the successful answer to a command.
type Ack struct {
	ID       string // the command's
	Instance string
	Seq      uint64
}

// Commands compares the answers of commands with the log. Each command must be in it
// once, at the sequence of all its answers.
func Commands(log []Entry, acks []Ack) []Violation {
	var found []Violation
	report := func(a Ack, format string, args ...any) {
		found = append(found, Violation{Acknowledged, a.Instance, "the log", fmt.Sprintf(format, args...)})
	}
	at := map[string][]Entry{}
	for _, e := range log {
		at[e.ID] = append(at[e.ID], e)
	}
	for _, a := range acks {
		switch there := at[a.ID]; {
		case len(there) == 0:
			report(a, "the command %s was answered with sequence %d, and is not in the log", a.ID, a.Seq)
		case len(there) > 1:
			report(a, "the command %s is in the log at sequences %d and %d", a.ID, there[0].Seq, there[1].Seq)
		case there[0].Seq != a.Seq || there[0].Instance != a.Instance:
			report(a, "the command %s was answered with sequence %d of %q, and is at %d of %q", a.ID, a.Seq, a.Instance, there[0].Seq,
				there[0].Instance)
		}
	}
	return found
}
