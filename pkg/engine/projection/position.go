package projection

import (
	"context"
	"sync"
)

// position is how far the log was followed. It is safe for concurrent use.
type position struct {
	mu      sync.Mutex
	seq     uint64
	chain   string        // of the commit at seq
	waiting chan struct{} // closed when seq changes; nil if no goroutine waits
}

// read returns the sequence of the last commit that was followed, and its chain.
func (p *position) read() (seq uint64, chain string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seq, p.chain
}

// set says that the log was followed up to a commit.
func (p *position) set(seq uint64, chain string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq, p.chain = seq, chain
	if p.waiting != nil {
		close(p.waiting)
		p.waiting = nil
	}
}

// wait returns when the log was followed up to seq, or ctx ends.
func (p *position) wait(ctx context.Context, seq uint64) error {
	for {
		changed := p.changedBelow(seq)
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// changedBelow returns a channel that is closed at the next change, or nil if the log
// was followed up to seq.
func (p *position) changedBelow(seq uint64) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seq >= seq {
		return nil
	}
	if p.waiting == nil {
		p.waiting = make(chan struct{})
	}
	return p.waiting
}
