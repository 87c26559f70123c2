package view

import (
	"fmt"
	"time"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Dead is one line of `dead ls --json`.
type Dead struct {
	Number     uint64    `json:"number"`
	Role       string    `json:"role"`
	Instance   string    `json:"instance,omitempty"`
	State      string    `json:"state,omitempty"` // whose work it is
	Work       uint64    `json:"work"`            // the commit of the log that made it
	Deliveries int       `json:"deliveries"`
	Reason     string    `json:"reason"`
	At         time.Time `json:"at"`
	Waits      bool      `json:"waits"` // the instance still waits for this work
	Now        string    `json:"now"`   // where the instance is, in words
	Dropped    bool      `json:"dropped,omitempty"`
}

// DeadOf converts a dead letter. in is its instance, nil if it has none.
func DeadOf(l store.DeadLetter, in *pb.Instance) Dead {
	d := Dead{Number: l.Number, Role: l.Role, Instance: l.Event.Instance, State: l.Event.State, Work: l.Work, Deliveries: l.Deliveries,
		Reason: l.Reason, At: l.At}
	switch {
	case d.Reason != "":
	case l.Refused:
		d.Reason = "an agent refused it"
	default:
		d.Reason = fmt.Sprintf("delivered %d times, and not acknowledged", l.Deliveries)
	}
	switch {
	case in == nil:
		d.Now = "it is of no instance"
	case in.GetClosed() != "":
		d.Now = "it has ended in " + in.GetState()
	case in.GetWork() != l.Work:
		d.Now = "it has gone on, and is in " + in.GetState()
	default:
		d.Waits, d.Now = true, "it waits in "+in.GetState()
	}
	return d
}

// Act returns the text by which the history of the instance has what was done with the letter.
func (d Dead) Act(done, reason string) string {
	text := fmt.Sprintf("dead letter %d of %s %s: %s", d.Number, d.Role, done, d.Reason)
	if reason != "" {
		text += "; " + reason
	}
	return text
}

// DeadLetters prints dead letters.
func DeadLetters(env *term.Env, all []Dead) error {
	if env.JSON {
		for _, d := range all {
			if err := env.Print(d); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		env.Printf("there are no dead letters\n")
		return nil
	}
	table := env.Table("NUMBER", "ROLE", "INSTANCE", "STATE", "AGE", "WHY", "NOW")
	for _, d := range all {
		table.Row(d.Number, term.Line(d.Role), term.Line(d.Instance), term.Line(d.State), env.Since(d.At), term.Line(d.Reason), term.Line(d.Now))
	}
	return table.Print()
}

// DeadLetter prints one.
func DeadLetter(env *term.Env, d Dead) error {
	if env.JSON {
		return env.Print(d)
	}
	if d.Dropped {
		env.Printf("dead letter %d is dropped\n", d.Number)
		return nil
	}
	env.Printf("dead letter %d of %s, %s ago: %s\n", d.Number, term.Line(d.Role), env.Since(d.At), term.Line(d.Reason))
	if d.Instance == "" {
		env.Printf("it is of no instance: signalbox dead drop %d\n", d.Number)
		return nil
	}
	env.Printf("work of %s in %s, commit %d; now: %s\n", term.Line(d.Instance), term.Line(d.State), d.Work, term.Line(d.Now))
	if d.Waits {
		env.Printf("signalbox explain %s names the reason; mend that, then signalbox dead retry %d\n", term.Quote(d.Instance), d.Number)
	} else {
		env.Printf("nothing waits for it: signalbox dead drop %d --reason TEXT\n", d.Number)
	}
	return nil
}
