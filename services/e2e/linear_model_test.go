package e2e

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// relayLifecycle has all transitions that the model knows.
const relayLifecycle = `
workflow: relay
version: 1
initial: run
policy: {max_faults: 3}
limits: [{name: enough, when: "instance.iteration >= 40", to: done}]
states:
  run:
    owner: runner
    next: [run, check, rest, done]
    decide:
      - {when: "result.status == 'success'", to: check}
      - {when: "result.status == 'blocked'", to: rest}
      - {to: run, failure: true}
  check:
    owner: judge
    next: [run, done]
    decide: [{when: "result.status == 'success'", to: done}, {to: run, failure: true}]
  rest:
    next: [run, done]
    on: {go: run}
  done: {final: true}
`

// observedState is the state of an instance in a reply.
type observedState struct {
	State     string
	Paused    bool
	Closed    string
	Seq, Work uint64
	Token     uint32 // of the claim; 0: none
	Agent     string
	Moves     int32
}

// model is a minimal sequential model of an instance of relayLifecycle. It shares
// no code with the engine and has no time: no lease of a run lapses.
type model struct {
	observedState
	tokens uint32
	faults int
}

func (m model) owner() string { return map[string]string{"run": "runner", "check": "judge"}[m.State] }

// apply is the sequential specification: the model after a command carried out as
// commit seq, or the code of its refusal.
func (m model) apply(in input, seq uint64) (model, string) {
	switch {
	case in.Kind == "open" && m.State != "":
		return m, "exists"
	case in.Kind == "open":
		return model{observedState: observedState{State: "run", Seq: seq, Work: seq}}, ""
	case m.State == "":
		return m, "unknown_instance"
	case in.Kind == "get":
		return m, ""
	case m.Closed != "" && in.Kind != "note" && in.Kind != "signal":
		return m, "closed"
	}
	m.Seq = seq
	switch in.Kind {
	case "claim":
		switch {
		case m.Paused:
			return m, "paused"
		case in.Role != m.owner():
			return m, "not_owner"
		case in.Work != m.Work:
			return m, "stale"
		case m.Token != 0:
			return m, "held"
		}
		m.tokens++
		m.Token, m.Agent = m.tokens, in.Agent
	case "heartbeat", "report", "release", "fail":
		switch {
		case m.Paused:
			return m, "paused"
		case m.Token == 0 || in.Token != m.Token:
			return m, "lapsed"
		}
		m = m.underClaim(in)
	case "pause":
		if m.Paused {
			return m, "paused"
		}
		m.Paused = true
		m = m.endClaim()
	case "resume":
		if !m.Paused {
			return m, "invalid"
		}
		m.Paused, m.faults = false, 0
		m = m.dispatch()
	case "signal":
		if m.Closed == "" && m.State == "rest" {
			m = m.move("run")
		}
	case "cancel":
		m.Closed = "cancelled"
		m = m.endClaim()
	}
	return m, ""
}

// underClaim applies a command of the claim's holder.
func (m model) underClaim(in input) model {
	switch in.Kind {
	case "report":
		return m.move(map[string]string{"run success": "check", "run blocked": "rest", "check success": "done"}[m.State+" "+in.Status])
	case "release":
		return m.endClaim().dispatch()
	case "fail":
		m = m.endClaim()
		m.faults++
		m.Paused = m.faults >= 3
	}
	return m
}

// move changes the state. An empty target is a failure, which leads back to run.
func (m model) move(to string) model {
	m = m.endClaim()
	m.Moves++
	m.State, m.faults = cmp.Or(to, "run"), 0
	if m.Moves >= 40 {
		m.State = "done"
	}
	if m.State == "done" {
		m.Closed = "ended"
	}
	return m.dispatch()
}

func (m model) endClaim() model {
	m.Token, m.Agent = 0, ""
	return m
}

func (m model) dispatch() model {
	if m.owner() != "" && !m.Paused && m.Closed == "" {
		m.Work = m.Seq
	}
	return m
}

// specification returns the model for the checker.
func specification() porcupine.Model {
	return porcupine.Model{
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			of, names := map[string][]porcupine.Operation{}, []string{}
			for _, o := range all {
				name := o.Input.(input).Instance
				if of[name] == nil {
					names = append(names, name)
				}
				of[name] = append(of[name], o)
			}
			parts := make([][]porcupine.Operation, 0, len(names))
			for _, name := range slices.Sorted(slices.Values(names)) {
				parts = append(parts, of[name])
			}
			return parts
		},
		Init: func() any { return model{} },
		Step: func(state, in, out any) (bool, any) { return state.(model).accepts(in.(input), out.(output)) },
		DescribeOperation: func(in, out any) string {
			return fmt.Sprintf("%s → %s", in.(input), out.(output))
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// accepts reports whether the output is possible for an instance in m, and returns
// the model after it.
func (m model) accepts(in input, out output) (bool, model) {
	next, code := m.apply(in, out.Seq)
	switch {
	case code != out.Code:
		return false, m
	case code != "":
		return true, m
	case in.Kind != "get" && out.Seq <= m.Seq, in.Kind == "claim" && out.NewToken != 0 && out.NewToken != next.Token:
		return false, m
	}
	want := next.observedState
	if out.WithoutClaim {
		want.Token, want.Agent = 0, ""
	}
	return out.Observed == nil || *out.Observed == want, next
}
