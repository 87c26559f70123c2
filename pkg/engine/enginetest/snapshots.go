package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

// Snapshots keeps snapshots in memory.
type Snapshots struct {
	Mu       sync.Mutex
	Index    []byte
	Revision uint64
	Parts    map[string][]byte
	Fails    func(what string) error // nil: nothing does
}

// NewSnapshots returns a store without a snapshot.
func NewSnapshots() *Snapshots { return &Snapshots{Parts: map[string][]byte{}} }

// Config returns the configuration of snapshots that are kept here.
func (s *Snapshots) Config(log string, every uint64, ignored func(error)) *snapshot.Config {
	return &snapshot.Config{Index: (*memoryIndex)(s), Parts: (*memoryParts)(s), Log: log, Every: every, Ignored: ignored}
}

func (s *Snapshots) may(what string) error {
	if s.Fails == nil {
		return nil
	}
	return s.Fails(what)
}

type memoryIndex Snapshots

func (i *memoryIndex) Get(context.Context) ([]byte, uint64, error) {
	i.Mu.Lock()
	defer i.Mu.Unlock()
	return i.Index, i.Revision, (*Snapshots)(i).may("get index")
}

func (i *memoryIndex) Set(_ context.Context, data []byte, revision uint64) error {
	i.Mu.Lock()
	defer i.Mu.Unlock()
	if err := (*Snapshots)(i).may("set index"); err != nil {
		return err
	}
	if revision != i.Revision {
		return eventstore.ErrConflict
	}
	i.Index, i.Revision = data, revision+1
	return nil
}

type memoryParts Snapshots

var errGone = errors.New("no such part")

func (p *memoryParts) Get(_ context.Context, name string) ([]byte, error) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if data, ok := p.Parts[name]; ok {
		return data, (*Snapshots)(p).may("get " + name)
	}
	return nil, fmt.Errorf("%w: %s", errGone, name)
}

func (p *memoryParts) Put(_ context.Context, name string, data []byte) error {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.Parts[name] = data
	return (*Snapshots)(p).may("put " + name)
}

func (p *memoryParts) Sweep(_ context.Context, keep func(string) bool) error {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	maps.DeleteFunc(p.Parts, func(name string, _ []byte) bool { return !keep(name) })
	return nil
}
