package api

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestWhatIsStuck(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return noon.Add(-d) }
	work := instance.Instance{State: "todo", Kind: workflow.Work, Owner: "worker", EnteredAt: at(time.Hour), UpdatedAt: at(time.Hour)}
	with := func(f func(*instance.Instance)) instance.Instance { in := work; f(&in); return in }
	for _, c := range []struct {
		name           string
		in             instance.Instance
		stuck, overdue bool
	}{
		{"work without a claim", work, true, false},
		{"work of a moment ago", with(func(in *instance.Instance) { in.UpdatedAt = at(time.Second) }), false, false},
		{"work with a claim", with(func(in *instance.Instance) { in.Claim = &instance.ActiveClaim{Lease: noon.Add(1)} }), false, false},
		{"work whose lease has expired",
			with(func(in *instance.Instance) { in.Claim, in.UpdatedAt = &instance.ActiveClaim{Lease: noon}, noon }), true, false},
		{"what is paused", with(func(in *instance.Instance) { in.Paused, in.UpdatedAt = true, noon }), true, false},
		{"what is parked", with(func(in *instance.Instance) { in.Parked = &instance.Parked{} }), false, false},
		{"what waits for a signal", with(func(in *instance.Instance) { in.Kind, in.Owner = workflow.Wait, "" }), false, false},
		{"what waits for people", with(func(in *instance.Instance) {
			in.Escalations = []instance.Escalation{{Number: 1,
				RequiresHuman: true}}
		}), false, false},
		{"a question without a claim", with(func(in *instance.Instance) {
			in.Kind, in.Owner, in.Questions = workflow.Wait, "", []instance.Question{{Number: 1, To: "cto"}}
		}), true, false},
		{"a stay at its timeout", with(func(in *instance.Instance) {
			in.Timeout, in.Claim = time.Hour, &instance.ActiveClaim{Lease: noon.Add(1)}
		}), true, true},
		{"a stay right before it", with(func(in *instance.Instance) {
			in.Timeout, in.Claim = time.Hour+1, &instance.ActiveClaim{Lease: noon.Add(1)}
		}), false, false},
		{"what ended", with(func(in *instance.Instance) { in.Timeout, in.Closed = time.Minute, instance.Ended }), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := projection.RowOf(c.in)
			if got := row.Stuck(noon); got != c.stuck {
				t.Errorf("stuck is %v", got)
			}
			if got := row.Late(noon); got != c.overdue {
				t.Errorf("overdue is %v", got)
			}
		})
	}
}
