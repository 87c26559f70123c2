package wire

import "github.com/signalbox/signalbox/pkg/instance"

// Made is Events by way of messages.
func Made(actor string, events []instance.Event) ([]byte, error) { return made(actor, events) }
