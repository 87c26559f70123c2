package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

// shelf keeps snapshots in memory.
type shelf struct {
	mu       sync.Mutex
	index    []byte
	revision uint64
	parts    map[string][]byte
	fails    func(what string) error // nil: nothing does
}

func newShelf() *shelf { return &shelf{parts: map[string][]byte{}} }

func (s *shelf) snapshots(log string, every uint64, ignored func(error)) *Snapshots {
	return &Snapshots{Index: (*onIndex)(s), Parts: (*onParts)(s), Log: log, Every: every, Ignored: ignored}
}

func (s *shelf) may(what string) error {
	if s.fails == nil {
		return nil
	}
	return s.fails(what)
}

type onIndex shelf

func (i *onIndex) Get(context.Context) ([]byte, uint64, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.index, i.revision, (*shelf)(i).may("get index")
}

func (i *onIndex) Set(_ context.Context, data []byte, revision uint64) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := (*shelf)(i).may("set index"); err != nil {
		return err
	}
	if revision != i.revision {
		return eventstore.ErrConflict
	}
	i.index, i.revision = data, revision+1
	return nil
}

type onParts shelf

var errGone = errors.New("no such part")

func (p *onParts) Get(_ context.Context, name string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if data, ok := p.parts[name]; ok {
		return data, (*shelf)(p).may("get " + name)
	}
	return nil, fmt.Errorf("%w: %s", errGone, name)
}

func (p *onParts) Put(_ context.Context, name string, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts[name] = data
	return (*shelf)(p).may("put " + name)
}

func (p *onParts) Sweep(_ context.Context, keep func(string) bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.parts, func(name string, _ []byte) bool { return !keep(name) })
	return nil
}
