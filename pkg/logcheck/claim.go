package logcheck

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// claim is the last one made.
func (t *trail) claim() *Interval { return t.claims[len(t.claims)-1] }

// live says whether somebody holds a claim now.
func (t *trail) live() bool { return t.held && t.now.Before(t.claim().To) }

func (t *trail) claimed(e instance.Claimed) {
	switch asked, waits := t.talk.asked(); {
	case waits && e.Role != asked.to:
		t.say(Asking, "%s claims as %s, and question %d is put to %q", e.Agent, e.Role, asked.number, asked.to)
	case !waits && (e.Role != t.owner || t.kind != workflow.Work):
		t.say(Owner, "%s claims as %s; %s is %s of %q", e.Agent, e.Role, t.state, t.kind, t.owner)
	}
	if n := t.talk.waits(); n > 0 {
		t.say(Asking, "%s claims while escalation %d waits for people", e.Agent, n)
	}
	if t.stay.parked {
		t.say(Parking, "%s claims %s, which is parked", e.Agent, t.state)
	}
	if t.paused {
		t.say(Pause, "%s claims while paused", e.Agent)
	}
	if t.live() {
		t.say(Overlap, "%s claims at %s what %s holds with token %d until %s", e.Agent, stamp(t.now), t.claim().Agent, t.claim().Token, stamp(t.claim().To))
	}
	if e.Token <= t.token {
		t.say(Token, "token %d after %d", e.Token, t.token)
	}
	if e.Direct && t.work != t.seq {
		t.say(Direct, "%s is given directly what this commit did not dispatch", e.Agent)
	}
	t.direct = e.Direct
	t.token = max(t.token, e.Token)
	t.held = true
	if t.lean {
		t.claims = t.claims[:0]
	}
	t.claims = append(t.claims, &Interval{t.seq, t.id, t.state, e.Role, e.Agent, e.Token, t.now, e.Lease})
}

// holds says whether the token is the live one, and speaks up if it is not.
func (t *trail) holds(what string, token uint64) bool {
	switch {
	case !t.held:
		t.say(Fence, "%s with token %d, and nobody holds a claim", what, token)
	case token != t.claim().Token:
		t.say(Fence, "%s with token %d, and %s holds token %d", what, token, t.claim().Agent, t.claim().Token)
	case !t.now.Before(t.claim().To):
		t.say(Fence, "%s with token %d at %s, and its lease ended at %s", what, token, stamp(t.now), stamp(t.claim().To))
	default:
		return true
	}
	return false
}

// let ends the claim, unless its lease did before.
func (t *trail) let() {
	if t.live() {
		t.claim().To = t.now
	}
	t.held = false
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
