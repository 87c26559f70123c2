package logcheck

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// newestClaim returns the newest claim. There must be one.
func (t *instanceChecker) newestClaim() *Interval { return t.claims[len(t.claims)-1] }

// claimLive reports whether a claim is live at the time of the newest commit.
func (t *instanceChecker) claimLive() bool { return t.claimHeld && t.now.Before(t.newestClaim().To) }

func (t *instanceChecker) claimed(e instance.Claimed) {
	defer t.discussion.use()
	switch inquiry, open := t.discussion.openInquiry(); {
	case open && e.Role != inquiry.to:
		t.report(Asking, "%s claims as %s, and question %d is put to %q", e.Agent, e.Role, inquiry.number, inquiry.to)
	case !open && (e.Role != t.owner || t.kind != workflow.Work):
		t.report(Owner, "%s claims as %s; %s is %s of %q", e.Agent, e.Role, t.state, t.kind, t.owner)
	}
	if n := t.discussion.openEscalation(); n > 0 {
		t.report(Asking, "%s claims while escalation %d waits for people", e.Agent, n)
	}
	if t.stay.parked {
		t.report(Parking, "%s claims %s, which is parked", e.Agent, t.state)
	}
	if t.paused {
		t.report(Pause, "%s claims while paused", e.Agent)
	}
	if t.claimLive() {
		t.report(Overlap, "%s claims at %s what %s holds with token %d until %s", e.Agent, stamp(t.now), t.newestClaim().Agent,
			t.newestClaim().Token, stamp(t.newestClaim().To))
	}
	if e.Token <= t.token {
		t.report(Token, "token %d after %d", e.Token, t.token)
	}
	if e.Direct && t.work != t.seq {
		t.report(Direct, "%s is given directly what this commit did not dispatch", e.Agent)
	}
	t.direct = e.Direct
	t.token = max(t.token, e.Token)
	t.claimHeld = true
	if t.lean {
		t.claims = t.claims[:0]
	}
	t.claims = append(t.claims, &Interval{t.seq, t.id, t.state, e.Role, e.Agent, e.Token, t.now, e.Lease})
}

// extended checks an extension of a lease. One that says so may come after the lease: the
// orchestrator makes those, for an agent that it could not answer.
func (t *instanceChecker) extended(e instance.LeaseExtended) {
	prolongs := e.Lapsed && t.claimHeld && e.Token == t.newestClaim().Token
	if prolongs || t.checkToken("a heartbeat", e.Token) {
		t.newestClaim().To = e.Lease
	}
}

// checkToken reports whether the token is that of the live claim, and a violation
// if not. what names the event.
func (t *instanceChecker) checkToken(what string, token uint64) bool {
	switch {
	case !t.claimHeld:
		t.report(Fence, "%s with token %d, and nobody holds a claim", what, token)
	case token != t.newestClaim().Token:
		t.report(Fence, "%s with token %d, and %s holds token %d", what, token, t.newestClaim().Agent, t.newestClaim().Token)
	case !t.now.Before(t.newestClaim().To):
		t.report(Fence, "%s with token %d at %s, and its lease ended at %s", what, token, stamp(t.now), stamp(t.newestClaim().To))
	default:
		return true
	}
	return false
}

// endClaim ends the newest claim, unless its lease ended before.
func (t *instanceChecker) endClaim() {
	if t.claimLive() {
		t.newestClaim().To = t.now
	}
	t.claimHeld = false
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
