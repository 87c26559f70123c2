package allowance

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at is the time of these tests.
var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// most returns how many of the times are within d, at most.
func most(all []time.Time, d time.Duration) (found int) {
	for i := range all {
		n := 0
		for _, o := range all {
			if since := o.Sub(all[i]); since >= 0 && since < d {
				n++
			}
		}
		found = max(found, n)
	}
	return found
}

// Whoever asks, whatever they ask for and whenever: no second has two writes, no minute
// more than 80 creations, no hour more than 500.
func TestWritesKeepWithinWhatGitHubPermits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, now := NewHolder(time.Second), at
		var writes, creations []time.Time
		for range rapid.IntRange(1, 1200).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pause")) * time.Millisecond)
			s := Request{Resource: "core", Writes: true, Creates: rapid.Bool().Draw(t, "creates")}
			free := a.Free(s, now)
			if free.Sub(now) > 10*time.Second {
				continue
			}
			a.Record(s, free)
			writes = append(writes, free)
			if s.Creates {
				creations = append(creations, free)
			}
		}
		if n := most(writes, time.Second); n > 1 {
			t.Errorf("%d writes in a second", n)
		}
		if n := most(creations, time.Minute); n > contentsAMinute {
			t.Errorf("%d creations in a minute", n)
		}
		if n := most(creations, time.Hour); n > contentsAnHour {
			t.Errorf("%d creations in an hour", n)
		}
	})
}

func TestALimitThatIsReachedPutsOffUntilTheLatestOfItsEnds(t *testing.T) {
	soon, late := at.Add(time.Minute), at.Add(10*time.Minute)
	for _, tc := range []struct {
		name   string
		before []Limit
		rate   *Rate
		limit  Limit
		news   bool
		until  time.Time // of a request of core; zero: it is sent
	}{
		{"all", nil, nil, Limit{Until: soon}, true, soon},
		{"all, again", []Limit{{Until: soon}}, nil, Limit{Until: soon.Add(time.Second)}, false, soon.Add(time.Second)},
		{"all, for longer", []Limit{{Until: soon}}, nil, Limit{Until: late}, true, late},
		{"all, for a shorter time", []Limit{{Until: late}}, nil, Limit{Until: soon}, false, late},
		{"the resource", nil, nil, Limit{Resource: "core", Until: soon}, true, soon},
		{"the resource, told by an answer first", nil, &Rate{5000, 0, soon}, Limit{Resource: "core", Until: soon}, false, soon},
		{"the resource, of which some seemed to be left", nil, &Rate{5000, 300, soon}, Limit{Resource: "core", Until: soon.Add(-time.Second)}, true, soon},
		{"the resource, while nothing is sent", []Limit{{Until: soon}}, nil, Limit{Resource: "core", Until: late}, true, soon},
		{"a moment of a resource whose hour is known", nil, &Rate{5000, 300, at.Add(time.Hour)}, Limit{Resource: "core", Until: soon}, false, time.Time{}},
		{"another resource", nil, nil, Limit{Resource: "search", Until: soon}, true, time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := NewHolder(0)
			for _, l := range tc.before {
				h.Reach(l, at)
			}
			if tc.rate != nil {
				h.Count("core", *tc.rate)
			}
			if news := h.Reach(tc.limit, at); news != tc.news {
				t.Errorf("news: %t", news)
			}
			var until time.Time
			if l := h.Blocked(Request{Resource: "core"}, at); l != nil {
				until = l.Until
			}
			if !until.Equal(tc.until) {
				t.Errorf("put off until %v, want %v", until, tc.until)
			}
		})
	}
}

func TestAHolderIsIdleWhenANewOneWouldSayTheSame(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(*Holder)
		idle time.Duration // when it is
	}{
		"nothing known":     {func(*Holder) {}, 0},
		"a secondary limit": {func(h *Holder) { h.Reach(Limit{Until: at.Add(time.Minute)}, at) }, time.Minute},
		"an hour":           {func(h *Holder) { h.Count("core", Rate{5000, 4000, at.Add(time.Hour)}) }, time.Hour},
		"a write to come":   {func(h *Holder) { h.Record(Request{Writes: true}, at.Add(5*time.Second)) }, 6 * time.Second},
		"a creation":        {func(h *Holder) { h.Record(Request{Writes: true, Creates: true}, at) }, time.Hour},
	} {
		h := NewHolder(time.Second)
		tc.do(h)
		if !h.Idle(at.Add(tc.idle)) || tc.idle > 0 && h.Idle(at.Add(tc.idle-time.Millisecond)) {
			t.Errorf("%s: not after %v", name, tc.idle)
		}
	}
}
