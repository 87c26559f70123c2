package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

func TestABudgetReadsAsItIsWritten(t *testing.T) {
	for text, want := range map[string]ledger.Budget{
		"day=20usd":                   {USD: 20},
		"day=$2.5":                    {USD: 2.5},
		"repo=acme/widgets,day=20usd": {Repo: "acme/widgets", USD: 20},
		"repo=acme/*,day=5usd":        {Repo: "acme/*", USD: 5},
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
		"week=5usd", "repo=,day=1usd", "repo=acme,day=1usd", "repo=acme/a/b,day=1usd", "repo=acme/[,day=1usd", "day=99999999999999999999tokens", "day=1e999usd", "day=NaNusd"} {
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
		"of a pattern":       {"repo=Acme/w*,day=10usd", reported("analyst", nine, 12, 0), "acme/widgets/1", []string{"developer acme/widgets/2", "analyst acme/widgets/2"}},
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
	l.Begin()
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

// configured is an instance whose repository has budgets of a day.
func configured(id string, days ...instance.DayBudget) instance.Instance {
	return instance.Instance{ID: id, Owner: "developer", Issue: instance.Issue{Repo: "acme/widgets", Config: &instance.Configuration{Hash: "h", Days: days}}}
}

// knowing returns a ledger of instances, which has begun.
func knowing(operator string, all ...instance.Instance) *ledger.Ledger {
	var budgets []ledger.Budget
	if b, err := ledger.Parse(operator); err == nil {
		budgets = append(budgets, b)
	}
	l := ledger.New(budgets, func(id string) (in instance.Instance, ok bool) {
		for _, in := range all {
			if in.ID == id {
				return in, true
			}
		}
		return in, false
	})
	l.Begin()
	return l
}

func TestARepositoryBoundsItsOwnDayBesideTheOperator(t *testing.T) {
	in := configured("acme/widgets/1", instance.DayBudget{USD: 10}, instance.DayBudget{Role: "developer", WallMS: 3600_000})
	l := knowing("day=100usd", in)
	l.Note(reported("analyst", nine, 9, 0), "acme/widgets/2") // of the same repository
	l.Note(reported("analyst", nine, 9, 0), "acme/gears/1")
	if until, why := l.Rests(nine, in, "analyst"); until.Sub(nine) != 2*time.Second || why != "today's costs are being read" {
		t.Errorf("before the day is read it rests until %s: %s", until, why)
	}
	if why := l.Over(nine, in, "analyst"); why != "" {
		t.Errorf("who is at work is ended before the day is read: %s", why)
	}
	l.CaughtUp()
	if until, why := l.Rests(nine, in, "analyst"); !until.IsZero() {
		t.Errorf("it rests: %s", why)
	}
	if passed := l.Note(reported("analyst", nine, 1, 0), in.ID); len(passed) != 1 || passed[0].Said != "$10.00 of $10.00" {
		t.Errorf("people are told %+v", passed)
	}
	const spent = "the budget repo=acme/widgets,day=10usd is spent: $10.00 of $10.00"
	if _, why := l.Rests(nine, in, "analyst"); why != spent {
		t.Errorf("on the day it rests: %q, want %q", why, spent)
	}
	if _, why := l.Rests(nine.Add(24*time.Hour), in, "analyst"); why != "" {
		t.Errorf("on the next day it rests: %q", why)
	}
	if until, why := l.Rests(nine.Add(-24*time.Hour), instance.Instance{ID: "acme/gears/1"}, "analyst"); !until.IsZero() {
		t.Errorf("another repository rests: %s", why)
	}
	l = knowing("", in)
	l.CaughtUp()
	l.Note(reported("developer", nine, 0, time.Hour), in.ID)
	if why := l.Over(nine, in, "developer"); why != "the budget repo=acme/widgets,role=developer,day=1h0m0s is spent: 1h0m0s of 1h0m0s" {
		t.Errorf("over: %s", why)
	}
	var names []string
	for _, use := range l.Uses(nine) {
		names = append(names, use.Budget.String())
	}
	if d := cmp.Diff([]string{"repo=acme/widgets,day=10usd", "repo=acme/widgets,role=developer,day=1h0m0s"}, names); d != "" {
		t.Error(d)
	}
}

func TestTheDayIsReadOnceABudgetIsThere(t *testing.T) {
	wanted := func(l *ledger.Ledger) bool {
		select {
		case <-l.Wanted():
			return true
		default:
			return false
		}
	}
	l := knowing("")
	l.Rests(nine, instance.Instance{ID: "acme/widgets/1"}, "developer")
	if wanted(l) {
		t.Error("nobody has a budget")
	}
	l.Rests(nine, configured("acme/widgets/1", instance.DayBudget{USD: 1}), "developer")
	if !wanted(l) || !wanted(knowing("day=5usd")) {
		t.Error("there is a budget, and the day is not read")
	}
}

func TestARaiseHoldsUntilTheDayEnds(t *testing.T) {
	in := configured("acme/widgets/1", instance.DayBudget{Tokens: 500_000})
	l := knowing("repo=acme/widgets,day=10usd", in)
	l.CaughtUp()
	l.Note(reported("developer", nine, 11, 0), in.ID)
	raise, err := l.Raise(nine, in, instance.RaiseDay{USD: 5})
	if err != nil || len(raise.Budgets) != 1 || raise.Budgets[0] != "repo=acme/widgets,day=10usd" {
		t.Fatalf("%+v, %v", raise, err)
	}
	l.Note(instance.Commit{Seq: 9, At: nine, Events: []instance.Event{instance.DayRaised{Budget: raise.Budgets[0], USD: 5, By: "ann"}}}, in.ID)
	if why := l.Over(nine, in, "developer"); why != "" {
		t.Errorf("it was raised: %s", why)
	}
	l.Note(reported("developer", nine, 4, 0), in.ID)
	if why := l.Over(nine, in, "developer"); why != "the budget repo=acme/widgets,day=10usd is spent: $15.00 of $15.00" {
		t.Errorf("over: %s", why)
	}
	next := nine.Add(24 * time.Hour)
	l.Note(reported("developer", next, 11, 0), in.ID)
	if why := l.Over(next, in, "developer"); why != "the budget repo=acme/widgets,day=10usd is spent: $11.00 of $10.00" {
		t.Errorf("on the next day: %q", why)
	}
}

func TestARaiseThatFitsNoBudgetSaysWhatWouldBeRight(t *testing.T) {
	in := configured("acme/widgets/1", instance.DayBudget{Role: "tester", Tokens: 500_000})
	ended := in
	ended.Closed, ended.Owner = instance.Ended, ""
	l := knowing("day=10usd", in)
	l.CaughtUp()
	const all = "day=10usd; repo=acme/widgets,role=tester,day=500000tokens"
	for name, c := range map[string]struct {
		spent float64
		in    instance.Instance
		raise instance.RaiseDay
		want  string // the budget, or the error
	}{
		"nothing is spent":      {0, in, instance.RaiseDay{USD: 5}, "no budget that covers the work of developer on acme/widgets/1 is spent today; name one of " + all},
		"it has ended":          {0, ended, instance.RaiseDay{USD: 5}, "nobody works on acme/widgets/1, so no budget holds it; name one of " + all},
		"one that is named":     {0, in, instance.RaiseDay{Budgets: []string{"role=tester,repo=acme/widgets,day=500000tokens"}, Tokens: 5}, "repo=acme/widgets,role=tester,day=500000tokens"},
		"one that there is not": {0, in, instance.RaiseDay{Budgets: []string{"day=20usd"}, USD: 5}, "there is no budget day=20usd of acme/widgets/1; there are " + all},
		"no budget at all":      {0, in, instance.RaiseDay{Budgets: []string{"20usd"}, USD: 5}, `"20usd" is no budget; want [repo=OWNER/NAME,][role=ROLE,]day=AMOUNT, with an amount such as 20usd, 500000tokens or 8h`},
		"another unit":          {11, in, instance.RaiseDay{Tokens: 5}, "the budget day=10usd is raised by an amount such as +5usd"},
		"what is spent":         {11, in, instance.RaiseDay{USD: 5}, "day=10usd"},
	} {
		l := l
		if c.spent > 0 {
			l = knowing("day=10usd", in)
			l.CaughtUp()
			l.Note(reported("developer", nine, c.spent, 0), in.ID)
		}
		got, err := l.Raise(nine, c.in, c.raise)
		if err == nil && (len(got.Budgets) != 1 || got.Budgets[0] != c.want) || err != nil && err.Error() != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
	}
	if _, err := knowing("").Raise(nine, instance.Instance{ID: "a/1"}, instance.RaiseDay{USD: 5}); err == nil || err.Error() != "no budget of a day covers a/1" {
		t.Errorf("without budgets: %v", err)
	}
}

func TestARaiseReadsAsItIsWritten(t *testing.T) {
	for text, want := range map[string]instance.RaiseDay{"+5": {USD: 5}, "+2.5usd": {USD: 2.5}, "+$3": {USD: 3}, "+7tokens": {Tokens: 7}, "+90m": {WallMS: 5400_000}} {
		if got, err := ledger.ParseRaise(text); err != nil || got.USD != want.USD || got.Tokens != want.Tokens || got.WallMS != want.WallMS {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "+", "5", "-5", "+-5", "+0", "+NaN", "+Inf", "+0h", "+1ns", "+h", "++5", "+5 usd"} {
		if got, err := ledger.ParseRaise(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
