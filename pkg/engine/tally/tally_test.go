package tally_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/tally"
)

// Each step counts once, with all that was spent on it, where and when that was.
func TestATally(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	sums := tally.New()
	add := func(id, state string, at time.Time, events ...instance.Event) {
		sums.Add(id, "issue", state, instance.Commit{At: at, Events: events})
	}
	cost := func(tokens int64, usd float64, brain string) instance.Cost {
		return instance.Cost{TokensIn: tokens, USD: usd, Brain: brain}
	}
	report := func(status instance.Status, c instance.Cost) instance.Event {
		return instance.Reported{Role: "developer", State: "implementing", Result: instance.Result{Status: status, Spend: c}}
	}
	add("acme/widgets/1", "implementing", noon, instance.Opened{Issue: instance.Issue{Repo: "acme/widgets"}}, instance.Claimed{Role: "developer"})
	add("acme/widgets/1", "implementing", noon.Add(time.Second), instance.Spent{Spend: cost(5, 1, "model:a")})
	add("acme/widgets/1", "reviewing", noon.Add(2*time.Second), report(instance.Success, instance.Cost{}))
	add("named", "implementing", noon.Add(24*time.Hour), instance.Opened{Issue: instance.Issue{Repo: "acme/gears"}}, instance.Claimed{Role: "developer"})
	add("named", "implementing", noon.Add(24*time.Hour+time.Second), report(instance.Failure, cost(0, 0, "")))

	by := func(leave func(k tally.Key) tally.Key) map[tally.Key]tally.Sum {
		all := map[tally.Key]tally.Sum{}
		for k, s := range sums.By(func(k tally.Key) (tally.Key, bool) { return leave(k), true }) {
			all[k] = *s
		}
		return all
	}
	role := by(func(k tally.Key) tally.Key { return tally.Key{Role: k.Role} })[tally.Key{Role: "developer"}]
	if role.Steps != 2 || role.Succeeded != 1 || role.Failed != 1 || role.Unmetered != 1 || role.USD != 1 || role.TokensIn != 5 {
		t.Errorf("the role has %+v", role)
	}
	if m := role.Median(); m < time.Second || m >= 2048*time.Millisecond {
		t.Errorf("half of its steps took at most %s, want one to two seconds", m)
	}
	for repo, want := range map[string]float64{"acme/widgets": 1, "acme/gears": 0} {
		sum, ok := by(func(k tally.Key) tally.Key { return tally.Key{Repo: k.Repo} })[tally.Key{Repo: repo}]
		if !ok || sum.USD != want || sum.Steps != 1 {
			t.Errorf("%s has %+v", repo, sum)
		}
	}
	days := by(func(k tally.Key) tally.Key { return tally.Key{Day: k.Day} })
	if len(days) != 2 || days[tally.Key{Day: "2026-02-01"}].Unmetered != 1 {
		t.Errorf("the days have %+v", days)
	}
	if brains := by(func(k tally.Key) tally.Key { return tally.Key{Brain: k.Brain} }); brains[tally.Key{Brain: "model:a"}].USD != 1 || len(brains) != 2 {
		t.Errorf("the brains have %+v", brains)
	}
}
