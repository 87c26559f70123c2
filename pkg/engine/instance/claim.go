package instance

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Claim gives an agent the right to do the work that commit Work dispatched, for
// the duration of Lease.
type Claim struct {
	Role  string
	Agent string
	Work  uint64
	Lease time.Duration
	// Program is the version of the agent's program, as the agent states it. Nothing is decided by it.
	Program string
}

// maxProgram bounds Program, in bytes.
const maxProgram = 100

// Heartbeat extends the lease: it then ends Lease after the command's time.
type Heartbeat struct {
	Token uint64
	Lease time.Duration
}

// Prolong extends the lease of a claim for an agent that could not send heartbeats, because
// no orchestrator ran. It is also taken for a lease that has ended, for as long as no other
// agent has the work.
type Prolong struct {
	Token uint64
	Lease time.Duration
}

// Release gives the work back unfinished, with what was done so far. It is dispatched
// again at once.
type Release struct {
	Token     uint64
	Reason    string
	Head      string // as in Inquire
	Bundle    string
	Sections  map[string]string
	Artifacts []Artifact
}

// Fail gives the work back because of an infrastructure fault.
type Fail struct {
	Token  uint64
	Reason string
	Until  time.Time // when the fault is over; zero: not known
}

// Claimed gives one agent the work until Lease. Lapsed is the agent whose lease ran
// out before, if any.
type Claimed struct {
	Token  uint64
	Role   string
	Agent  string
	Lease  time.Time
	Lapsed string
	// Direct means that the commit that dispatched the work claimed it for a waiting
	// agent: no queue delivers it.
	Direct  bool
	Program string // as in Claim
}

func (e Claimed) apply(in *Instance, c Commit) {
	in.Claim = &ActiveClaim{e.Token, e.Role, e.Agent, c.At, e.Lease}
	in.Tokens, in.Woken, in.Direct = e.Token, false, in.Direct || e.Direct
	in.useAnswers()
}

// LeaseExtended is a heartbeat, or prolongs a lease that ended while no orchestrator ran.
type LeaseExtended struct {
	Token  uint64
	Lease  time.Time
	Lapsed bool // the lease had ended, and no other agent had the work
}

func (e LeaseExtended) apply(in *Instance, _ Commit) {
	if in.Claim != nil {
		claim := *in.Claim
		claim.Lease = e.Lease
		in.Claim = &claim
	}
}

// Released ends a claim without a result. Fault marks an infrastructure fault, which is
// never counted as a failure of the work. One whose end is not known is counted in
// Instance.Faults.
type Released struct {
	Token  uint64
	Agent  string
	Reason string
	Fault  bool
	Until  time.Time // when a fault is over, if that is known: nobody gets the work before
}

func (e Released) apply(in *Instance, _ Commit) {
	in.Claim = nil
	if e.Fault && e.Until.IsZero() {
		in.Faults++
	}
}

func (a Claim) decide(d *decision) error { return d.claim(a, false) }

func (a Release) decide(d *decision) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if err := d.saveProgress(Handed{a.Head, a.Bundle, a.Sections, a.Artifacts}); err != nil {
		return err
	}
	return d.release(a.Token, a.Reason, false, time.Time{})
}

func (a Fail) decide(d *decision) error {
	until := a.Until
	if last := d.cmd.At.Add(maxRest); until.After(last) {
		until = last
	}
	if until.Before(d.cmd.At.Add(minRest)) {
		until = time.Time{}
	}
	return d.release(a.Token, a.Reason, true, until)
}

// maxRest is how long work is left alone at most after a fault whose end is known. One that
// ends sooner than the least rest counts as one whose end is not known. Else the work could
// come back for ever without a pause.
const (
	minRest = 5 * time.Second
	maxRest = 24 * time.Hour
)

// claim gives the work to one agent, with the next fencing token. direct marks
// a claim made by the commit that dispatched the work.
func (d *decision) claim(a Claim, direct bool) error {
	live := d.in.Claim.Live(d.cmd.At)
	open, escalated := d.in.Escalation()
	_, inquired := d.in.Inquiry()
	switch {
	case d.in.Paused:
		return d.refuse(CodePaused, []string{"resume"}, "paused: %s", d.in.Reason)
	case escalated:
		return d.refuse(CodePaused, []string{"resolve"}, "people are asked: %s", open.Reason)
	case a.Role == "" || a.Agent == "" || a.Lease <= 0:
		return d.refuse(CodeInvalid, nil, "a claim names its role, its agent and a lease above zero")
	case len(a.Program) > maxProgram:
		return d.refuse(CodeInvalid, nil, "program has %d bytes, want at most %d", len(a.Program), maxProgram)
	case inquired && a.Role != d.in.Worker():
		return d.refuse(CodeNotOwner, []string{d.in.Worker()}, "%s is not who is asked in %s", a.Role, d.in.State)
	case a.Role != d.in.Worker():
		return d.refuse(CodeNotOwner, d.workerRoles(), "%s does not own %s", a.Role, d.in.State)
	case d.in.Parked != nil:
		return d.refuse(CodeStale, nil, "%s is parked: %s", d.in.State, d.in.Parked.Reason)
	case a.Work != d.in.Work:
		return d.refuse(CodeStale, nil, "work %d is past: %s was dispatched as work %d", a.Work, d.in.State, d.in.Work)
	case live && d.in.Claim.Agent == a.Agent:
		return d.refuse(CodeHeld, nil, "%s already holds it, token %d, until %s", a.Agent, d.in.Claim.Token, stamp(d.in.Claim.Lease))
	case live:
		return d.refuse(CodeHeld, nil, "%s holds it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	}
	lapsed := ""
	if d.in.Claim != nil {
		lapsed = d.in.Claim.Agent
	}
	d.record(Claimed{d.in.Tokens + 1, a.Role, a.Agent, d.cmd.At.Add(a.Lease), lapsed, direct, a.Program})
	if inquired {
		return nil
	}
	return d.react(workflow.OnClaimed, nil)
}

func (d *decision) workerRoles() []string {
	if role := d.in.Worker(); role != "" {
		return []string{role}
	}
	return nil
}

// checkClaim refuses a command under a claim unless token is that of the live one.
func (d *decision) checkClaim(token uint64) error {
	c := d.in.Claim
	switch {
	case d.in.Paused:
		return d.refuse(CodePaused, []string{"resume"}, "paused: %s", d.in.Reason)
	case c == nil:
		return d.refuse(CodeLapsed, nil, "nobody holds a claim in %s; token %d is over", d.in.State, token)
	case c.Token != token:
		return d.refuse(CodeLapsed, nil, "token %d is over: %s holds token %d", token, c.Agent, c.Token)
	case !c.Live(d.cmd.At):
		return d.refuse(CodeLapsed, nil, "the lease of token %d ran out at %s", token, stamp(c.Lease))
	}
	return nil
}

func (a Heartbeat) decide(d *decision) error {
	if a.Lease <= 0 {
		return d.refuse(CodeInvalid, nil, "a heartbeat asks for a lease above zero")
	}
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	d.record(LeaseExtended{Token: a.Token, Lease: d.cmd.At.Add(a.Lease)})
	return nil
}

func (a Prolong) decide(d *decision) error {
	c, end := d.in.Claim, d.cmd.At.Add(a.Lease)
	switch {
	case c == nil || c.Token != a.Token:
		return d.refuse(CodeStale, nil, "no agent holds token %d", a.Token)
	case !end.After(c.Lease):
		return d.refuse(CodeStale, nil, "%s holds it until %s", c.Agent, stamp(c.Lease))
	}
	d.record(LeaseExtended{a.Token, end, !c.Live(d.cmd.At)})
	return nil
}

// defaultFaults is how many infrastructure faults in one state pause an
// instance whose definition has no policy max_faults.
const defaultFaults = 20

// release ends the claim without a result. Work given back untouched is
// dispatched again at once; after a fault its message is redelivered later.
func (d *decision) release(token uint64, reason string, fault bool, until time.Time) error {
	if err := d.checkClaim(token); err != nil {
		return err
	}
	d.record(Released{token, d.in.Claim.Agent, reason, fault, until})
	if !fault {
		return d.runAlways(true)
	}
	if !until.IsZero() {
		return d.runAlways(false)
	}
	limit, ok := d.def.Policy["max_faults"].(int64)
	if !ok {
		limit = defaultFaults
	}
	if int64(d.in.Faults) >= limit {
		d.record(Paused{fmt.Sprintf("%d infrastructure faults in %s, the last: %s", d.in.Faults, d.in.State, reason)})
	}
	return d.runAlways(false)
}
