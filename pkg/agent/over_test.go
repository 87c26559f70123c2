package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
)

func TestAStepUnderWayEndsWithTheDaysBudgetAndItsWorkIsKept(t *testing.T) {
	w := newBareEnv(t)
	w.settings.AckWait, w.settings.Budget = 20*time.Second, []string{"role=pm,day=5usd"}
	w.resume()
	w.client = client.New(w.server.Connect(t), "operator:ann")
	began := time.Now()
	k := w.agent("pm-1", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		if err := job.Spend(ctx, instance.Cost{USD: 4}); err != nil || job.Overspent() != nil {
			return instance.Result{}, errors.Join(err, job.Overspent())
		}
		if err := job.Spend(ctx, instance.Cost{USD: 2}); err != nil {
			return instance.Result{}, err
		}
		<-job.Affordable.Done()
		r := instance.Result{Artifacts: []instance.Artifact{{Name: "log", Object: "output/1"}}, Spend: instance.Cost{WallMS: 7}}
		return r, &agent.ErrGiveBack{Reason: job.Overspent().Error()}
	}))
	w.start("issue", "acme/widgets/1")
	got := next(w, k.ended)
	if !ledger.Day(began).Equal(ledger.Day(time.Now())) {
		t.Skip("the day has ended meanwhile")
	}
	back := new(agent.ErrGiveBack)
	if !errors.As(got.err, &back) || !errors.Is(got.job.Overspent(), brain.ErrBudget) || back.Reason != "the budget role=pm,day=5usd is spent: $6.00 of $5.00" {
		t.Fatalf("it ended with %v", got.err)
	}
	all := w.until("acme/widgets/1", func(e instance.Event) bool { _, ok := e.(instance.ParkedUntil); return ok })
	parked := of[instance.ParkedUntil](all)[0]
	if parked.WaitsFor != instance.ForBudget || !strings.Contains(parked.Reason, "$6.00 of $5.00") || !parked.Until.After(began) {
		t.Errorf("it is parked by %+v", parked)
	}
	if spent := of[instance.Spent](all); len(spent) != 3 || spent[2].Spend.WallMS != 7 {
		t.Errorf("recorded is %+v", spent)
	}
	if kept := of[instance.Handed](all); len(kept) != 1 || kept[0].Artifacts[0].Object != "output/1" {
		t.Errorf("kept is %+v", kept)
	}
	if back := of[instance.Released](all); len(back) != 1 || back[0].Fault {
		t.Errorf("given back is %+v", back)
	}
}
