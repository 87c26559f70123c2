package agent

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// delivery is a message of a role's work. What is said of it is sent and not
// waited for: an answer that is lost costs one more delivery, whose claim is
// refused.
type delivery struct{ *nats.Msg } // nil of work that came with its claim: there is nobody to answer

func (d delivery) respond(body []byte) error {
	if d.Msg == nil {
		return nil
	}
	return d.Respond(body)
}

// ack ends it.
func (d delivery) ack() error { return d.respond([]byte("+ACK")) }

// nak has it delivered again, after a delay.
func (d delivery) nak(delay time.Duration) error {
	if delay <= 0 {
		return d.respond([]byte("-NAK"))
	}
	return d.respond(fmt.Appendf(nil, `-NAK {"delay":%d}`, delay))
}

// progress has it be left alone for as long as it was at first.
func (d delivery) progress() error { return d.respond([]byte("+WPI")) }

// term makes it a dead letter.
func (d delivery) term(reason string) error { return d.respond([]byte("+TERM " + reason)) }
