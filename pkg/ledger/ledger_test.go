package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/ledger"
	"github.com/signalbox/signalbox/pkg/wire"
)

func TestABudgetReadsAsItIsWritten(t *testing.T) {
	for text, want := range map[string]ledger.Budget{
		"day=20usd":                   {USD: 20},
		"day=$2.5":                    {USD: 2.5},
		"repo=acme/widgets,day=20usd": {Repo: "acme/widgets", USD: 20},
		"role=developer,day=500000tokens, repo=acme/widgets": {Repo: "acme/widgets", Role: "developer", Tokens: 500000},
		"role=developer,day=8h":                              {Role: "developer", Wall: 8 * time.Hour},
	} {
		got, err := ledger.Parse(text)
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
		if again, err := ledger.Parse(got.String()); err != nil || again != got {
			t.Errorf("%q is %+v, %v", got.String(), again, err)
		}
	}
	for _, text := range []string{"", "day", "day=", "20usd", "repo=a/b", "day=0usd", "day=-5usd", "day=+5usd", "day=0tokens", "day=-1h", "day=5", "day=1usd,day=2usd",
		"week=5usd", "repo=,day=1usd", "day=99999999999999999999tokens", "day=1e999usd", "day=NaNusd"} {
		if got, err := ledger.Parse(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// nine is nine o'clock of a day.
var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

func reported(role string, at time.Time, usd float64, wall time.Duration) instance.Commit {
	return instance.Commit{At: at, Events: []instance.Event{instance.Reported{Role: role,
		Result: instance.Result{Spend: instance.Cost{USD: usd, TokensIn: int64(usd * 1000), WallMS: wall.Milliseconds()}}}}}
}

func of(t *testing.T, budgets ...string) *ledger.Ledger {
	t.Helper()
	var all []ledger.Budget
	for _, text := range budgets {
		b, err := ledger.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return ledger.New(all, func(id string) (instance.Instance, bool) {
		if id != "by-hand" {
			return instance.Instance{}, false
		}
		return instance.Instance{ID: id, Issue: instance.Issue{Repo: "acme/widgets"}, Claim: &instance.ActiveClaim{Role: "developer"}}, true
	})
}

func TestABudgetHoldsWhatItIsOfUntilTheDayEnds(t *testing.T) {
	for name, c := range map[string]struct {
		budget string
		commit instance.Commit
		id     string
		rests  []string // ROLE INSTANCE
	}{
		"of all":             {"day=10usd", reported("analyst", nine, 10, 0), "acme/widgets/1", []string{"developer acme/widgets/2", "developer acme/gears/1", "analyst acme/widgets/2"}},
		"of a repository":    {"repo=acme/widgets,day=10usd", reported("analyst", nine, 12, 0), "acme/widgets/1", []string{"developer acme/widgets/2", "analyst acme/widgets/2"}},
		"of another one":     {"repo=acme/widgets,day=10usd", reported("analyst", nine, 12, 0), "acme/gears/1", nil},
		"of a role":          {"role=developer,day=10000tokens", reported("developer", nine, 10, 0), "acme/widgets/1", []string{"developer acme/widgets/2", "developer acme/gears/1"}},
		"of another role":    {"role=developer,day=10usd", reported("analyst", nine, 12, 0), "acme/widgets/1", nil},
		"not all of it":      {"day=10usd", reported("analyst", nine, 9.99, 0), "acme/widgets/1", nil},
		"time of a program":  {"day=8h", reported("developer", nine, 0, 8*time.Hour), "acme/gears/1", []string{"developer acme/widgets/2", "developer acme/gears/1", "analyst acme/widgets/2"}},
		"of the day before":  {"day=10usd", reported("analyst", nine.Add(-10*time.Hour), 12, 0), "acme/widgets/1", nil},
		"by its repository":  {"repo=acme/widgets,day=10usd", reported("developer", nine, 10, 0), "by-hand", []string{"developer acme/widgets/2", "analyst acme/widgets/2"}},
		"a turn of a claim":  {"role=developer,day=10usd", instance.Commit{At: nine, Events: []instance.Event{instance.Claimed{Role: "developer"}, instance.Spent{Spend: instance.Cost{USD: 10}}}}, "x", []string{"developer acme/widgets/2", "developer acme/gears/1"}},
		"of a claim before":  {"role=developer,day=10usd", instance.Commit{At: nine, Events: []instance.Event{instance.Spent{Spend: instance.Cost{USD: 10}}}}, "by-hand", []string{"developer acme/widgets/2", "developer acme/gears/1"}},
		"what costs nothing": {"day=10usd", reported("analyst", nine, 0, 0), "acme/widgets/1", nil},
	} {
		l := of(t, c.budget)
		l.Note(c.commit, c.id)
		var rests []string
		for _, work := range []string{"developer acme/widgets/2", "developer acme/gears/1", "analyst acme/widgets/2"} {
			var in instance.Instance
			var role string
			_, _ = fmt.Sscan(work, &role, &in.ID)
			until, why := l.Rests(nine.Add(time.Hour), in, role)
			if until.IsZero() {
				continue
			}
			rests = append(rests, work)
			if want := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC); !until.Equal(want) || why == "" {
				t.Errorf("%s: %s until %s, want %s", name, why, until, want)
			}
		}
		if until, _ := l.Rests(nine.Add(15*time.Hour), instance.Instance{ID: "acme/widgets/2"}, "developer"); !until.IsZero() {
			t.Errorf("%s: it rests on the next day, too", name)
		}
		if d := cmp.Diff(c.rests, rests); d != "" {
			t.Errorf("%s: what rests (-want +got):\n%s", name, d)
		}
	}
}

func TestPeopleAreToldAtFourFifthsAndWhenAllIsSpent(t *testing.T) {
	l := of(t, "repo=acme/widgets,day=10usd")
	var said []string
	for _, usd := range []float64{7.9, 0.1, 1, 1, 5} {
		for _, use := range l.Note(reported("analyst", nine, usd, 0), "acme/widgets/1") {
			said = append(said, use.Said)
		}
	}
	if d := cmp.Diff([]string{"$8.00 of $10.00", "$10.00 of $10.00"}, said); d != "" {
		t.Error(d)
	}
	if uses := l.Uses(nine); len(uses) != 1 || uses[0].Part != 1.5 {
		t.Errorf("%+v", uses)
	}
}

func TestWhatThisProcessAppendedCountsOnceAndAtOnce(t *testing.T) {
	l := of(t, "day=10usd")
	commit := func(seq uint64) instance.Commit {
		c := reported("analyst", nine, 1, 0)
		c.Seq = seq
		return c
	}
	l.Note(commit(1), "a/1")
	l.Ahead(commit(2), "a/1")
	l.Ahead(commit(1), "a/1") // the log was quicker
	l.Ahead(commit(4), "a/1")
	l.Note(commit(2), "a/1")
	l.Note(commit(3), "a/1") // another process's
	l.Note(commit(4), "a/1")
	if uses := l.Uses(nine); uses[0].Said != "$4.00 of $10.00" {
		t.Errorf("%+v", uses)
	}
}

func TestADayOfTheLogIsFound(t *testing.T) {
	log := memory.New()
	ctx := context.Background()
	start := func(at time.Time) uint64 {
		t.Helper()
		seq, err := ledger.Start(ctx, log, at)
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	if got := start(nine); got != 1 {
		t.Errorf("in an empty log it is %d", got)
	}
	for i := range 9 {
		data, err := wire.Events("test", []instance.Event{instance.Noted{}})
		if err != nil {
			t.Fatal(err)
		}
		c := eventstore.Commit{ID: fmt.Sprint(i), Workflow: "w", State: "a", Instance: fmt.Sprint(i), Time: nine.Add(time.Duration(i) * time.Hour), Data: data}
		c.Chain = eventstore.NextChain("", c)
		if _, err := log.Append(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	for hours, want := range map[int]uint64{-5: 1, 0: 1, 1: 2, 4: 5, 8: 9, 9: 10, 30: 10} {
		if got := start(nine.Add(time.Duration(hours) * time.Hour)); got != want {
			t.Errorf("%d hours later it is %d, want %d", hours, got, want)
		}
	}
}
