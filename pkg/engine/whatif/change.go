package whatif

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// ErrChange means that the other rules cannot be: no recorded lifecycle has a policy that they name, or
// a value does not fit.
var ErrChange = errors.New("the other rules fit no lifecycle of the log")

// Change is the other rules: values of policy, a definition of one lifecycle, or both. It is safe
// for concurrent use.
type Change struct {
	policy     map[string]string
	definition *workflow.Definition // nil: only values of policy

	mu   sync.Mutex
	used map[string]bool
	has  map[string]bool // policies of the lifecycles of the log
	last error           // why no definition took the values
}

// NewChange returns the other rules. A nil definition leaves those that were recorded. The values
// count for the definition, or for each lifecycle that has the policy.
func NewChange(policy map[string]string, definition *workflow.Definition) (*Change, error) {
	c := &Change{policy: policy, used: map[string]bool{}, has: map[string]bool{}}
	if definition != nil && len(policy) > 0 {
		var err error
		if definition, err = c.with(definition); err != nil {
			return nil, err
		}
	}
	c.definition = definition
	return c, nil
}

// Alter is an Alter.
func (c *Change) Alter(recorded *workflow.Definition) (*workflow.Definition, error) {
	switch {
	case c.definition == nil:
		return c.with(recorded)
	case c.definition.Name == recorded.Name:
		return c.definition, nil
	}
	return recorded, nil
}

// with returns the definition with those values of policy that it has.
func (c *Change) with(def *workflow.Definition) (*workflow.Definition, error) {
	values := map[string]any{}
	for name, value := range c.policy {
		if _, has := def.Policy[name]; has {
			values[name] = value
		}
	}
	other, err := def.WithPolicy(values)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.last = err
	}
	for name := range values {
		c.used[name] = true
	}
	for name := range def.Policy {
		c.has[name] = true
	}
	return other, err
}

// Unused returns an ErrChange of values that fit no definition, and of policies that no lifecycle of
// the log has. Ask it once the log is decided.
func (c *Change) Unused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil {
		return fmt.Errorf("%w: %w", ErrChange, c.last)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.policy)) {
		if !c.used[name] {
			if near := workflow.Nearest(name, slices.Sorted(maps.Keys(c.has))); near != "" {
				name += " (did you mean " + near + "?)"
			}
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("%w: none has the policy %s; signalbox definition show NAME lists those of a lifecycle", ErrChange, strings.Join(names, ", "))
	}
	return nil
}
