package api

import (
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/wire"
)

// gather is how long an answer waits for others of its batch.
const gather = time.Millisecond

// answers gathers those to one batch. For a claim that waits no other answer does.
type answers struct {
	send func([]byte)
	most int // bytes in a message

	mu      sync.Mutex
	left    int // commands without an answer that do not wait
	data    []byte
	armed   bool  // they will be sent before long
	waiting []int // places of claims that wait
}

// waits says that there is a claim at a place that waits.
func (a *answers) waits(place int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left--
	a.waiting = append(a.waiting, place)
}

// answered counts the answer to a command.
func (a *answers) answered(place int) {
	if !slices.Contains(a.waiting, place) {
		a.left--
	}
}

func (a *answers) add(place int, reply []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.data)+len(reply) > a.most {
		a.flush()
	}
	a.data = wire.AppendAnswer(a.data, place, reply)
	a.answered(place)
	switch {
	case a.left == 0:
		a.flush()
	case !a.armed:
		a.armed = true
		time.AfterFunc(gather, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.armed = false
			a.flush()
		})
	}
}

func (a *answers) flush() {
	if len(a.data) > 0 {
		a.send(a.data)
		a.data = nil
	}
}
