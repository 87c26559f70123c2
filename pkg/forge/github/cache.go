package github

import (
	"container/list"
	"sync"
)

// cache keeps the most recently used answers, up to a number of bytes.
type cache struct {
	mu    sync.Mutex
	room  int // bytes
	order *list.List
	byKey map[string]*list.Element
}

type cached struct {
	key   string
	value []byte
}

func (c cached) size() int { return len(c.key) + len(c.value) }

func newCache(bytes int) *cache {
	return &cache{room: bytes, order: list.New(), byKey: map[string]*list.Element{}}
}

// Get returns the value of the key.
func (c *cache) Get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cached).value, true
}

// Set keeps the value, and drops the least recently used ones if there is no room.
func (c *cache) Set(key string, value []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.byKey[key])
	e := cached{key, value}
	c.byKey[key] = c.order.PushFront(e)
	c.room -= e.size()
	for c.room < 0 {
		c.drop(c.order.Back())
	}
}

// Delete keeps the value. It is called when a request failed. Before each use the forge is
// asked whether a value is still true: after an outage that is free.
func (c *cache) Delete(string) {}

func (c *cache) drop(e *list.Element) {
	if e == nil {
		return
	}
	old := c.order.Remove(e).(cached)
	delete(c.byKey, old.key)
	c.room += old.size()
}
