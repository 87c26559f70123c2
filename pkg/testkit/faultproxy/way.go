package faultproxy

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// block limits the bytes of a chunk, ahead the chunks under way in one direction.
// The sender blocks at that limit, as on a real network.
const (
	block = 16 << 10
	ahead = 256
)

// chunk is the data of one read, or the end of a direction.
type chunk struct {
	bytes []byte
	due   time.Time
	end   error // nil: it is none
}

// forward forwards one direction until it ends.
func (p *Proxy) forward(l *link, up bool) {
	from, to, count := l.client, l.server, &p.up
	if !up {
		from, to, count = l.server, l.client, &p.down
	}
	under := make(chan chunk, ahead)
	var reading sync.WaitGroup
	reading.Go(func() { p.read(l, from, up, under) })
	defer reading.Wait()
	var last time.Time // arrival of the previous chunk
	for {
		var c chunk
		select {
		case c = <-under:
		case <-l.gone:
			return
		}
		if c.due.Before(last) {
			c.due = last
		}
		if !p.arrive(l, up, c) {
			return
		}
		last = time.Now()
		switch {
		case l.abandoned():
			continue
		case errors.Is(c.end, io.EOF):
			_ = to.CloseWrite()
			return
		case c.end != nil:
			l.end()
			return
		}
		if _, err := to.Write(c.bytes); err != nil && !l.abandoned() {
			l.end()
			return
		}
		count.Add(int64(len(c.bytes)))
	}
}

// read sends chunks to the channel, and the end last.
func (p *Proxy) read(l *link, from *net.TCPConn, up bool, under chan<- chunk) {
	defer l.silent()
	var last time.Time
	for {
		b := make([]byte, block)
		n, err := from.Read(b)
		way, _ := p.now(up)
		due := time.Now().Add(way.Latency)
		if way.Jitter > 0 {
			due = due.Add(rand.N(way.Jitter))
		}
		if due.Before(last) {
			due = last // in order
		}
		last = due
		for _, c := range []chunk{{bytes: b[:n], due: due}, {end: err, due: due}} {
			if len(c.bytes) == 0 && c.end == nil {
				continue
			}
			select {
			case under <- c:
			case <-l.gone:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// arrive waits until c has arrived. It returns false if the connection ends before.
func (p *Proxy) arrive(l *link, up bool, c chunk) bool {
	for {
		way, changed := p.now(up)
		wait := time.Until(c.due)
		if way.Rate > 0 {
			wait += time.Duration(len(c.bytes)) * time.Second / time.Duration(way.Rate)
		}
		var due <-chan time.Time // a cut has none
		if !way.Cut || l.abandoned() {
			if wait <= 0 {
				return true
			}
			timer := time.NewTimer(wait)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-due:
			return true
		case <-changed:
		case <-l.gone:
			return false
		}
	}
}
