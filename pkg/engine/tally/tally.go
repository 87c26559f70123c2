// Package tally sums what steps cost over the whole log, so that no request has to read every history. A Tally is a
// cache: the log has all that it is made of.
package tally

import (
	"cmp"
	"math/bits"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Key is what the steps of a Sum have in common. A field that is not asked for is empty.
type Key struct {
	Workflow, Repo, Role, Brain, State string
	Day                                string // of the result or of the spending, in UTC, such as 2026-01-31
}

// NotReported stands for the brain of steps that did not report it: those without one, and those of earlier versions.
const NotReported = "not reported"

// Sum is what steps cost, and how they ended.
type Sum struct {
	Steps, Succeeded, Failed int64
	Unmetered                int64 // steps that reported no tokens: rules, and programs whose cost is unknown
	TokensIn, TokensOut      int64
	USD                      float64
	WallMS                   int64
	took                     [32]uint32 // steps by the bits of their time in milliseconds
}

// Tally is the sums of a log. The zero Tally is not ready: see New. It is not safe for concurrent use.
type Tally struct {
	Since time.Time // what was spent before is left out

	sums  map[Key]*Sum
	steps map[string]step   // that are at work, by instance
	repos map[string]string // of open instances whose names do not have them
}

// step is what an agent works on.
type step struct {
	role, state string
	metered     bool
	at          time.Time
}

// New returns the tally of an empty log.
func New() *Tally {
	return &Tally{sums: map[Key]*Sum{}, steps: map[string]step{}, repos: map[string]string{}}
}

// Add adds the next commit of the log. state is where the instance was after it. Spending before a result counts where
// it was claimed.
func (t *Tally) Add(id, workflow, state string, c instance.Commit) {
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Opened:
			if e.Issue.Repo != "" && e.Issue.Repo != RepoOf(id) {
				t.repos[strings.Clone(id)] = e.Issue.Repo
			}
		case instance.Claimed:
			t.steps[strings.Clone(id)] = step{e.Role, state, false, c.At}
		case instance.Spent:
			s := t.steps[id]
			s.metered = s.metered || metered(e.Spend)
			t.steps[strings.Clone(id)] = s
			t.sum(id, workflow, s.role, s.state, c.At, e.Spend)
		case instance.Reported:
			t.report(id, workflow, e, c.At)
		}
	}
}

func (t *Tally) report(id, workflow string, e instance.Reported, at time.Time) {
	sum, s := t.sum(id, workflow, e.Role, e.State, at, e.Result.Spend), t.steps[id]
	delete(t.steps, id)
	if sum == nil {
		return
	}
	sum.Steps++
	switch e.Result.Status {
	case instance.Success:
		sum.Succeeded++
	case instance.Failure:
		sum.Failed++
	}
	if !s.metered && !metered(e.Result.Spend) {
		sum.Unmetered++
	}
	if !s.at.IsZero() {
		sum.took[min(bits.Len64(uint64(max(at.Sub(s.at).Milliseconds(), 0))), len(sum.took)-1)]++
	}
}

func metered(c instance.Cost) bool { return c.TokensIn+c.TokensOut > 0 }

// sum adds a cost to its sum; nil if it is left out.
func (t *Tally) sum(id, workflow, role, state string, at time.Time, c instance.Cost) *Sum {
	if at.Before(t.Since) {
		return nil
	}
	key := Key{workflow, cmp.Or(t.repos[id], RepoOf(id)), role, cmp.Or(c.Brain, NotReported), state, at.UTC().Format(time.DateOnly)}
	sum := t.sums[key]
	if sum == nil {
		sum = new(Sum)
		key.Workflow, key.Repo = strings.Clone(key.Workflow), strings.Clone(key.Repo)
		t.sums[key] = sum
	}
	sum.add(&Sum{TokensIn: c.TokensIn, TokensOut: c.TokensOut, USD: c.USD, WallMS: c.WallMS})
	return sum
}

func (s *Sum) add(o *Sum) {
	s.Steps, s.Succeeded, s.Failed, s.Unmetered = s.Steps+o.Steps, s.Succeeded+o.Succeeded, s.Failed+o.Failed, s.Unmetered+o.Unmetered
	s.TokensIn, s.TokensOut, s.USD, s.WallMS = s.TokensIn+o.TokensIn, s.TokensOut+o.TokensOut, s.USD+o.USD, s.WallMS+o.WallMS
	for i, n := range o.took {
		s.took[i] += n
	}
}

// Median returns a time that half of the steps took at most, within a factor of two.
func (s *Sum) Median() time.Duration {
	all := uint32(0)
	for _, n := range s.took {
		all += n
	}
	seen := uint32(0)
	for i, n := range s.took {
		if seen += n; all > 0 && 2*seen >= all {
			return time.Duration(uint64(1)<<i-1) * time.Millisecond
		}
	}
	return 0
}

// By returns the sums by what the given function leaves of each key. It leaves out the keys that the function
// reports false for.
func (t *Tally) By(of func(Key) (Key, bool)) map[Key]*Sum {
	all := map[Key]*Sum{}
	for key, sum := range t.sums {
		short, ok := of(key)
		if !ok {
			continue
		}
		if all[short] == nil {
			all[short] = new(Sum)
		}
		all[short].add(sum)
	}
	return all
}

// RepoOf returns the repository in the name of an instance: what it begins with.
func RepoOf(id string) string {
	if i := strings.LastIndexByte(id, '/'); i > 0 {
		return id[:i]
	}
	return id
}
