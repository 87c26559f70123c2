package projection

import (
	"context"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

// missing is the part of a snapshot that Complete has still to load. It is safe for
// concurrent use.
type missing struct {
	mu   sync.Mutex
	of   *snapshot.Description
	done chan struct{} // closed when nothing is missing any more; nil if nothing is
}

// begin says that closed instances of a snapshot are missing.
func (m *missing) begin(of *snapshot.Description) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of, m.done = of, make(chan struct{})
}

// end says that nothing is missing.
func (m *missing) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done != nil {
		close(m.done)
	}
	m.of, m.done = nil, nil
}

// description returns the snapshot of the missing instances; ok is false if none
// are.
func (m *missing) description() (of *snapshot.Description, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of, m.done != nil
}

// any reports whether anything is missing.
func (m *missing) any() bool {
	_, ok := m.description()
	return ok
}

// wait returns when nothing is missing, or ctx ends.
func (m *missing) wait(ctx context.Context) error {
	m.mu.Lock()
	done := m.done
	m.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
