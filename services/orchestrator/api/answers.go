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

	mu       sync.Mutex
	left     int // commands without an answer that do not wait
	data     []byte
	armed    bool    // they will be sent before long
	asked    []asked // what is being carried out
	promised []promised
	waiting  []int // places of claims that wait
}

// asked is one command of a batch.
type asked struct {
	id, instance string
	name         string
	place        int
}

// promised is one command that a promise was sent of.
type promised struct {
	at    string // where that is acknowledged
	place int
}

// waits says that there is a claim at a place that waits.
func (a *answers) waits(place int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left--
	a.waiting = append(a.waiting, place)
}

// expect says what is being carried out.
func (a *answers) expect(one asked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, one)
}

// about returns the command with the id, if it is of this batch. Of two instances
// the log takes it of one.
func (a *answers) about(id, instance string) (one asked, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.asked, func(one asked) bool { return one.id == id && one.instance == instance })
	if i < 0 {
		return asked{}, false
	}
	return a.asked[i], true
}

// promise sends one, of the commands at these places, unless it is too long.
func (a *answers) promise(at string, data []byte, places []int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(data) > a.most {
		return false
	}
	for _, place := range places {
		a.promised = append(a.promised, promised{at, place})
	}
	a.send(data)
	return true
}

// kept says that what was acknowledged there holds. If a promise of the place does
// with that, it is answered.
func (a *answers) kept(at string, place int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.promised, promised{at, place}) {
		return false
	}
	if a.answered(place); a.left == 0 {
		a.flush()
	}
	return true
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
