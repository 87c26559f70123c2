package projection

import (
	"context"
	"hash/fnv"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// claims are the instances that claims were given in lifecycles with an order. There the
// instance that a claim names is not the one that it gets. It is safe for concurrent use.
type claims struct {
	mu         sync.Mutex
	byCommand  map[uint64]string // instance by the hash of the command's id
	byInstance map[string]*instanceClaims
}

type instanceClaims struct {
	id       string
	commands []uint64
}

func commandHash(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// reset forgets all claims.
func (c *claims) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byCommand, c.byInstance = nil, nil
}

// add notes, once, the instance that commands were given.
func (c *claims) add(id string, commands ...uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, command := range commands {
		if _, known := c.byCommand[command]; known {
			continue
		}
		if c.byCommand == nil {
			c.byCommand, c.byInstance = map[uint64]string{}, map[string]*instanceClaims{}
		}
		of := c.byInstance[id]
		if of == nil {
			of = &instanceClaims{id: strings.Clone(id)} // a commit's is a part of its subject
			c.byInstance[of.id] = of
		}
		c.byCommand[command] = of.id
		of.commands = append(of.commands, command)
	}
}

// given returns the instance that a command was given.
func (c *claims) given(command uint64) (id string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok = c.byCommand[command]
	return id, ok
}

// of returns the commands that were given an instance. The caller may not change them.
func (c *claims) of(id string) []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.byInstance[id]; of != nil {
		return of.commands
	}
	return nil
}

// Given returns the instance that a claim was given before, in a lifecycle with an
// order; ok is false if it was given none. Unless it is known at once, Given waits for
// Complete: the instance may have closed before the snapshot.
func (p *Projection) Given(ctx context.Context, command string) (id string, ok bool, err error) {
	h := commandHash(command)
	if id, ok = p.claims.given(h); ok {
		return id, true, nil
	}
	if err := p.missing.wait(ctx); err != nil {
		return "", false, err
	}
	id, ok = p.claims.given(h)
	return id, ok, nil
}

// indexClaims notes the instance that a commit's command was given, if its definition
// has an order. events are decoded if they are nil.
func (p *Projection) indexClaims(ctx context.Context, definition string, c eventstore.Commit, events []instance.Event) error {
	if p.orderOf(ctx, definition) != ordered {
		return nil
	}
	if events == nil {
		commit, err := wire.ToCommit(c)
		if err != nil {
			return err
		}
		events = commit.Events
	}
	for _, event := range events {
		if _, ok := event.(instance.Claimed); ok {
			p.claims.add(c.Instance, commandHash(c.ID))
		}
	}
	return nil
}
