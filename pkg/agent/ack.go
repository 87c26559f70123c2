package agent

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// delivery is a message of a role's consumer. The message is nil for direct work,
// and then each method does nothing.
//
// Acknowledgements are sent and not confirmed. A lost one costs one redelivery,
// whose claim is refused.
type delivery struct{ msg *nats.Msg }

func (d delivery) ack() error {
	if d.msg == nil {
		return nil
	}
	return d.msg.Ack()
}

// nak has the server deliver the message again after the delay.
func (d delivery) nak(delay time.Duration) error {
	if d.msg == nil {
		return nil
	}
	return d.msg.NakWithDelay(delay)
}

// inProgress restarts the message's ack wait.
func (d delivery) inProgress() error {
	if d.msg == nil {
		return nil
	}
	return d.msg.InProgress()
}

// term makes the message a dead letter.
func (d delivery) term(reason string) error {
	if d.msg == nil {
		return nil
	}
	return d.msg.Respond([]byte("+TERM " + reason))
}

// maxFaultDelay is how long a fault whose end is known delays at most.
const maxFaultDelay = 24 * time.Hour

// faultDelay is the delay of a redelivery after an infrastructure fault: 1, 4, 16, then 60
// seconds. If the end of the fault is known, it is the time until then. A policy of five
// faults then outlasts an outage of a minute.
func (d delivery) faultDelay(fault error) time.Duration {
	if d.msg == nil { // the orchestrator delays direct work itself
		return 0
	}
	delay := time.Second
	if meta, err := d.msg.Metadata(); err == nil {
		delay = min(time.Second<<(2*min(meta.NumDelivered-1, 3)), time.Minute)
	}
	if later := (*brain.LaterError)(nil); errors.As(fault, &later) {
		delay = max(delay, min(time.Until(later.Until), maxFaultDelay))
	}
	return delay
}

// subject is empty for direct work.
func (d delivery) subject() string {
	if d.msg == nil {
		return ""
	}
	return d.msg.Subject
}
