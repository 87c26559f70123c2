package instance_test

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// model is the second implementation, as simple as it gets: it keeps every
// command that was taken and works everything else out from there, from the
// start, each time it is asked.
type model struct {
	def *workflow.Definition
	log []taken
}

// taken is a command, and the two things that the past cannot tell about it.
type taken struct {
	instance.Command
	to    string // where it moved the instance; empty: nowhere
	stops bool   // it was one fault too many
}

func (m model) with(t taken) model { return model{m.def, append(slices.Clip(m.log), t)} }

// path is every state it was in, the present one last.
func (m model) path() []string {
	var path []string
	for _, t := range m.log {
		if _, opens := t.Do.(instance.Open); opens {
			path = append(path, m.def.Initial)
		}
		if t.to != "" {
			path = append(path, t.to)
		}
	}
	return path
}

func (m model) previous() []string {
	path := m.path()
	return path[:max(0, len(path)-1)]
}

func (m model) row() workflow.State {
	path := m.path()
	for _, s := range m.def.States {
		if len(path) > 0 && s.Name == path[len(path)-1] {
			return s
		}
	}
	return workflow.State{}
}

func (m model) visits() map[string]int {
	visits := map[string]int{}
	for _, state := range m.path() {
		visits[state]++
	}
	return visits
}

// returns counts since the newest move out of a state in which nobody works.
func (m model) returns() int {
	n, path := 0, m.path()
	for i, state := range path {
		switch {
		case i > 0 && m.kind(path[i-1]) == workflow.Wait:
			n = 0
		case slices.Contains(path[:i], state):
			n++
		}
	}
	return n
}

func (m model) kind(state string) workflow.Kind {
	s, _ := m.def.State(state)
	return s.Kind
}

func (m model) loops() bool {
	previous, w := m.previous(), m.def.Loop.Window
	if w == 0 || len(previous) < w {
		return false
	}
	recent := slices.Sorted(slices.Values(previous[len(previous)-w:]))
	return len(slices.Compact(recent)) <= m.def.Loop.Distinct
}

func (m model) closed() instance.Closed {
	for _, t := range m.log {
		if _, cancels := t.Do.(instance.Cancel); cancels {
			return instance.Cancelled
		}
	}
	if m.row().Kind == workflow.Final {
		return instance.Ended
	}
	return ""
}

func (m model) paused() bool {
	paused := false
	for _, t := range m.log {
		switch t.Do.(type) {
		case instance.Pause:
			paused = true
		case instance.Resume:
			paused = false
		}
		paused = paused || t.stops
	}
	return paused
}

// claim is the newest one that nothing has ended but, maybe, time.
func (m model) claim() *instance.Claim {
	var c *instance.Claim
	for _, t := range m.log {
		switch a := t.Do.(type) {
		case instance.Take:
			c = &instance.Claim{Role: a.Role, Agent: a.Agent, At: t.At, Lease: t.At.Add(a.Lease)}
		case instance.Heartbeat:
			c.Lease = t.At.Add(a.Lease)
		case instance.Report, instance.Release, instance.Fail, instance.Pause, instance.Cancel:
			c = nil
		}
		if t.to != "" {
			c = nil
		}
	}
	if c != nil {
		c.Token = m.tokens()
	}
	return c
}

func (m model) tokens() uint64 {
	var n uint64
	for _, t := range m.log {
		if _, takes := t.Do.(instance.Take); takes {
			n++
		}
	}
	return n
}

// work is the newest command that gave the owner something to do.
func (m model) work() uint64 {
	for i := len(m.log); i > 0; i-- {
		t, then := m.log[i-1], model{m.def, m.log[:i]}
		gives := t.to != ""
		switch t.Do.(type) {
		case instance.Open, instance.Release, instance.Resume, instance.Retry:
			gives = true
		}
		if gives && then.row().Kind == workflow.Work && !then.paused() {
			return uint64(i)
		}
	}
	return 0
}

func (m model) faults() int {
	n := 0
	for _, t := range m.log {
		switch t.Do.(type) {
		case instance.Fail:
			n++
		case instance.Resume:
			n = 0
		}
		if t.to != "" {
			n = 0
		}
	}
	return n
}

// questions says of each whether it is open.
func (m model) questions() []bool {
	var open []bool
	answer := func(number int) {
		if number >= 1 && number <= len(open) {
			open[number-1] = false
		}
	}
	for _, t := range m.log {
		switch a := t.Do.(type) {
		case instance.Ask:
			open = append(open, true)
		case instance.Reply:
			answer(a.Number)
		case instance.Report:
			for range a.Result.Questions {
				open = append(open, true)
			}
			for _, ans := range a.Result.Answers {
				answer(ans.Question)
			}
		}
	}
	return open
}

func (m model) open() []int {
	var numbers []int
	for i, open := range m.questions() {
		if open {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

func (m model) results() []instance.Result {
	var all []instance.Result
	for _, t := range m.log {
		if r, ok := t.Do.(instance.Report); ok {
			all = append(all, r.Result)
		}
	}
	return all
}

func (m model) evidence() map[string]instance.Evidence {
	newest := map[string]instance.Evidence{}
	for _, r := range m.results() {
		for _, e := range r.Evidence {
			newest[e.Name] = e
		}
	}
	return newest
}

func (m model) failure() instance.Signature {
	var f instance.Signature
	for _, r := range m.results() {
		if slices.ContainsFunc(r.Evidence, func(e instance.Evidence) bool { return e.OK }) {
			f = instance.Signature{}
		}
		if r.FailureSignature != "" && r.FailureSignature == f.Value {
			f.Repeats++
		} else if r.FailureSignature != "" {
			f = instance.Signature{Value: r.FailureSignature}
		}
	}
	return f
}

func (m model) commits() (base, head string) {
	if len(m.log) > 0 {
		base = m.log[0].Do.(instance.Open).Base
	}
	head = base
	for _, r := range m.results() {
		if base == "" && r.Base != "" {
			base, head = r.Base, r.Base
		}
		if r.Head != "" {
			head = r.Head
		}
	}
	return base, head
}

func (m model) spend() instance.Spend {
	var sum instance.Spend
	for _, t := range m.log {
		switch a := t.Do.(type) {
		case instance.Charge:
			sum = sum.Add(a.Spend)
		case instance.Report:
			sum = sum.Add(a.Result.Spend)
		}
	}
	return sum
}

func (m model) live(at time.Time) bool {
	c := m.claim()
	return c != nil && c.Lease.After(at)
}
