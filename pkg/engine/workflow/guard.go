package workflow

import (
	"errors"
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
)

// ErrGuard marks a guard that could not be evaluated: it read a map key that is
// not there, or ran into its cost limit.
var ErrGuard = errors.New("guard failed")

// Guard is a compiled CEL condition over Facts and the definition's policy, or
// the expression that an Order ranks by. The zero Guard always holds. It is safe for concurrent use.
type Guard struct {
	Source string

	at      Position
	checked *cel.Ast
	program cel.Program
	given   map[string]any // by the full name a guard reads: "policy.NAME", "vars.NAME"
	cites   []string
	rests   []given  // what it reads that roles or people give
	facts   []string // the other facts it reads: "evidence", "instance.head", …
	unasked []lookup
}

// Always reports whether the guard is the zero one, which holds whatever the facts.
func (g Guard) Always() bool { return g.Source == "" }

// Eval reports whether the guard holds. An error wraps ErrGuard and names the
// guard's source and position; it is never to be read as false.
func (g Guard) Eval(f Facts) (bool, error) { return g.Holds(&f) }

// Holds is Eval without a copy of the facts, which it neither changes nor keeps.
func (g Guard) Holds(f *Facts) (bool, error) {
	if g.Always() {
		return true, nil
	}
	if g.program == nil {
		return false, fmt.Errorf("%w: %q was never compiled", ErrGuard, g.Source)
	}
	value, _, err := g.program.Eval(&reading{f, g.given})
	if err != nil {
		return false, fmt.Errorf("%w: %s: %q: %w", ErrGuard, g.at, g.Source, err)
	}
	holds, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("%w: %s: %q is no bool but %v", ErrGuard, g.at, g.Source, value)
	}
	return holds, nil
}

// Rank returns the whole number that an Order's expression gives the facts.
func (g Guard) Rank(f Facts) (int64, error) {
	if g.program == nil {
		return 0, fmt.Errorf("%w: %q was never compiled", ErrGuard, g.Source)
	}
	value, _, err := g.program.Eval(&reading{&f, g.given})
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %q: %w", ErrGuard, g.at, g.Source, err)
	}
	rank, ok := value.Value().(int64)
	if !ok {
		return 0, fmt.Errorf("%w: %s: %q is no whole number but %v", ErrGuard, g.at, g.Source, value)
	}
	return rank, nil
}

// Cites lists the evidence that the guard reads by name, in order of name.
func (g Guard) Cites() []string { return g.cites }

// ReadsOnly reports whether the guard reads no other facts than those named, policy and
// vars: "evidence", or a field such as "instance.head".
func (g Guard) ReadsOnly(facts ...string) bool {
	return !slices.ContainsFunc(g.facts, func(f string) bool { return !slices.Contains(facts, f) })
}

// reading gives a guard the facts by name. It hands out pointers: a guard
// mostly reads one field of one of them.
type reading struct {
	facts *Facts
	given map[string]any
}

// ResolveName implements cel.Activation.
func (r *reading) ResolveName(name string) (any, bool) {
	switch name {
	case "result":
		return &r.facts.Result, true
	case "signal":
		return &r.facts.Signal, true
	case "evidence":
		return r.facts.Evidence, true
	case "instance":
		return &r.facts.Instance, true
	case "issue":
		return &r.facts.Issue, true
	case "spend":
		return &r.facts.Spend, true
	}
	if value, ok := r.facts.Vars[name]; ok {
		return value, true
	}
	value, ok := r.given[name]
	return value, ok
}

// Parent implements cel.Activation.
func (r *reading) Parent() cel.Activation { return nil }
