package workflow

import "sync"

// Catalog holds definitions and answers by name and by hash. Adding a newer
// definition of a name leaves the older one to be found by its hash: running
// instances keep deciding by it. It is safe for concurrent use; the zero
// Catalog is empty and ready.
type Catalog struct {
	mu     sync.RWMutex
	byName map[string]*Definition
	byHash map[string]*Definition
}

// NewCatalog holds the given definitions.
func NewCatalog(defs ...*Definition) *Catalog {
	c := &Catalog{}
	for _, d := range defs {
		c.Add(d)
	}
	return c
}

// Add makes d the definition of its name.
func (c *Catalog) Add(d *Definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(d)
	c.byName[d.Name] = d
}

// Keep makes d answer to its hash without making it the definition of its name:
// an older one that running instances decide by.
func (c *Catalog) Keep(d *Definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(d)
}

func (c *Catalog) keep(d *Definition) {
	if c.byHash == nil {
		c.byName, c.byHash = map[string]*Definition{}, map[string]*Definition{}
	}
	c.byHash[d.Hash] = d
}

// Named returns the newest definition of the name; the error is ErrUnknown and
// lists the names there are.
func (c *Catalog) Named(name string) (*Definition, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if d, ok := c.byName[name]; ok {
		return d, nil
	}
	return nil, unknown(name, sortedKeys(c.byName))
}

// Hashed returns the definition of the hash.
func (c *Catalog) Hashed(hash string) (*Definition, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.byHash[hash]
	return d, ok
}

// All lists the newest definition of every name, sorted by name.
func (c *Catalog) All() []*Definition {
	c.mu.RLock()
	defer c.mu.RUnlock()
	defs := make([]*Definition, 0, len(c.byName))
	for _, name := range sortedKeys(c.byName) {
		defs = append(defs, c.byName[name])
	}
	return defs
}
