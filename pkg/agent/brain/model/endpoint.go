package model

import (
	"net/url"
	"sync"
	"time"
)

// Endpoints are the providers as they answered lately, by their URL. The zero value is
// ready to use.
type Endpoints struct {
	mu  sync.Mutex
	all map[string]*endpoint
}

// at returns the endpoint of a URL.
func (e *Endpoints) at(address string) *endpoint {
	if u, err := url.Parse(address); err == nil {
		address = u.Redacted()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[string]*endpoint{}
	}
	if e.all[address] == nil {
		e.all[address] = &endpoint{url: address}
	}
	return e.all[address]
}

const (
	tripsAfter = 5                // faults in a row after which nobody asks for a while
	opensFor   = 30 * time.Second // that while
)

// endpoint is a circuit breaker: after several faults in a row, or when the provider
// names a time, nobody asks until then. After that one asks at a time, until one is
// answered.
type endpoint struct {
	url string // without a password

	mu     sync.Mutex
	faults int // in a row
	until  time.Time
}

// wait returns how long nobody may ask. Of 0, the caller asks, and others wait for its
// answer where there were faults.
func (e *endpoint) wait(now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d := e.until.Sub(now); d > 0 {
		return d
	}
	if e.faults >= tripsAfter {
		e.until = now.Add(opensFor) // this one tries
	}
	return 0
}

// answered records that the provider works.
func (e *endpoint) answered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults, e.until = 0, time.Time{}
}

// failed records a fault, and the time after which to ask again if the provider named
// one.
func (e *endpoint) failed(now time.Time, after time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults++
	until := now.Add(after)
	if e.faults >= tripsAfter && after < opensFor {
		until = now.Add(opensFor)
	}
	if until.After(e.until) {
		e.until = until
	}
}
