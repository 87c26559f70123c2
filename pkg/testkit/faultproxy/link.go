package faultproxy

import (
	"net"
	"sync"
	"time"
)

// link is one forwarded connection.
type link struct {
	client, server *net.TCPConn
	gone           chan struct{} // closed at its end

	mu    sync.Mutex
	ended bool
	lost  bool // abandoned
	quiet int  // sides that send no more
}

// accept accepts connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve forwards both ways until both have ended.
func (p *Proxy) serve(client *net.TCPConn) {
	p.mu.Lock()
	target, shut := p.target, p.fault.Shut || p.closed
	p.mu.Unlock()
	if shut {
		_ = reset(client)
		return
	}
	server, err := net.DialTimeout("tcp", target, 10*time.Second)
	if err != nil {
		_ = reset(client)
		return
	}
	l := &link{client: client, server: server.(*net.TCPConn), gone: make(chan struct{})}
	p.mu.Lock()
	p.links[l] = struct{}{}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		l.end()
	}
	p.connections.Add(1)
	var ways sync.WaitGroup
	ways.Go(func() { p.forward(l, true) })
	ways.Go(func() { p.forward(l, false) })
	ways.Wait()
	l.close((*net.TCPConn).Close) // sends what the kernel has buffered
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// current returns the open connections.
func (p *Proxy) current() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*link, 0, len(p.links))
	for l := range p.links {
		all = append(all, l)
	}
	return all
}

// end resets both sides. It reports whether the link was open.
func (l *link) end() bool { return l.close(reset) }

func (l *link) close(how func(*net.TCPConn) error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.ended = true
	close(l.gone)
	_, _ = how(l.client), how(l.server) // an error means that it is closed already
	return true
}

// abandon makes the link half-open on both sides.
func (l *link) abandon() bool {
	l.mu.Lock()
	was := l.lost || l.ended
	l.lost = true
	over := l.quiet == 2
	l.mu.Unlock()
	if over {
		l.end()
	}
	return !was
}

// silent records that a side sends no more. An abandoned link ends when both sides
// have.
func (l *link) silent() {
	l.mu.Lock()
	l.quiet++
	over := l.lost && l.quiet == 2
	l.mu.Unlock()
	if over {
		l.end()
	}
}

func (l *link) abandoned() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// reset closes a connection so that the other side gets an error, not an end.
func reset(c *net.TCPConn) error {
	_ = c.SetLinger(0)
	return c.Close()
}
