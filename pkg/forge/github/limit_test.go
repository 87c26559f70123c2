package github

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
)

// at is the time of these tests.
var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func TestLimitsAreToldApart(t *testing.T) {
	const link = `,"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`
	for _, tc := range []struct {
		what    string
		status  int
		header  http.Header
		body    string
		again   int
		until   time.Duration // 0: no limit
		primary bool
	}{
		{"a success", 200, headers("X-RateLimit-Remaining", "0"), `{}`, 0, 0, false},
		{"a permission", 403, headers("X-RateLimit-Remaining", "7"), `{"message":"Resource not accessible by integration"}`, 0, 0, false},
		{"nothing left", 403, headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(at.Add(20*time.Minute))), `{"message":"API rate limit exceeded"}`, 0, 20 * time.Minute, true},
		{"nothing left, as 429", 429, headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(at.Add(20*time.Minute))), ``, 0, 20 * time.Minute, true},
		{"nothing left until nobody knows when", 403, headers("X-RateLimit-Remaining", "0"), `{}`, 0, time.Minute, true},
		{"nothing left, by a clock that is ahead", 403, headers("X-RateLimit-Remaining", "0", "Date", at.Add(time.Hour).Format(http.TimeFormat),
			"X-RateLimit-Reset", unix(at.Add(80*time.Minute))), `{}`, 0, 20 * time.Minute, true},
		{"nothing left, until a time that is over", 403, headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(at.Add(-time.Hour))), `{}`, 0, time.Second, true},
		{"a time of nothing", 429, headers("Retry-After", "0"), ``, 0, time.Second, false},
		{"secondary with a time", 403, headers("Retry-After", "90"), `{"message":"You have exceeded a secondary rate limit"` + link, 0, 90 * time.Second, false},
		{"secondary without the link", 403, headers("Retry-After", "90"), `{"message":"You have exceeded a secondary rate limit"}`, 0, 90 * time.Second, false},
		{"secondary by its link alone", 403, nil, `{"message":"Slow down"` + link, 0, time.Minute, false},
		{"secondary by its words alone", 403, nil, `{"message":"You have exceeded a secondary rate limit"}`, 0, time.Minute, false},
		{"the old words", 403, nil, `{"message":"You have triggered an abuse detection mechanism"}`, 0, time.Minute, false},
		{"secondary while there are requests left", 403, headers("X-RateLimit-Remaining", "4000", "X-RateLimit-Reset", unix(at.Add(time.Hour))),
			`{"message":"You have exceeded a secondary rate limit"}`, 0, time.Minute, false},
		{"a time and no words", 403, headers("Retry-After", "90"), ``, 0, 90 * time.Second, false},
		{"a date", 429, headers("Retry-After", at.Add(3*time.Minute).Format(http.TimeFormat)), ``, 0, 3 * time.Minute, false},
		{"429 of a proxy", 429, nil, `<html>`, 0, time.Minute, false},
		{"the second in a row without a time", 429, nil, ``, 1, 2 * time.Minute, false},
		{"the tenth in a row without a time", 429, nil, ``, 9, 16 * time.Minute, false},
		{"both: the later one holds", 403, headers("Retry-After", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(at.Add(20*time.Minute))), `{}`, 0, 20 * time.Minute, true},
		{"a time beyond belief", 429, headers("Retry-After", "99999999"), ``, 0, 24 * time.Hour, false},
		{"a time that is none", 429, headers("Retry-After", "soon"), ``, 0, time.Minute, false},
		{"a server's fault with a time", 503, headers("Retry-After", "90"), ``, 0, 0, false},
	} {
		t.Run(tc.what, func(t *testing.T) {
			limit, primary := limitOf(tc.status, tc.header, []byte(tc.body), tc.again, at)
			switch {
			case (limit != nil) != (tc.until != 0) || primary != tc.primary:
				t.Fatalf("limit = %v, primary %t", limit, primary)
			case limit != nil && limit.Until.Sub(at) != tc.until:
				t.Errorf("it ends after %v, want %v", limit.Until.Sub(at), tc.until)
			}
		})
	}
}

func TestWhatIsLessUrgentStopsFirst(t *testing.T) {
	hour := func(left int) http.Header {
		return headers("X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", strconv.Itoa(left), "X-RateLimit-Reset", unix(at.Add(time.Hour)))
	}
	for _, tc := range []struct {
		left                           int
		background, ordinary, urgently bool
	}{{5000, true, true, true}, {1001, true, true, true}, {1000, false, true, true}, {251, false, true, true}, {250, false, false, true}, {1, false, false, true}, {0, false, false, false}} {
		a := newHolding(0)
		a.note(sending{Resource: "core"}, 200, hour(tc.left), nil, at)
		for urgency, want := range map[forge.Urgency]bool{forge.Background: tc.background, forge.Ordinary: tc.ordinary, forge.Urgent: tc.urgently} {
			limit := a.Blocked(sending{Resource: "core", Keep: keep(urgency)}, at)
			if (limit == nil) != want {
				t.Errorf("%d left: urgency %d: %v", tc.left, urgency, limit)
			}
			if limit != nil && !limit.Until.Equal(at.Add(time.Hour)) {
				t.Errorf("%d left: until %v", tc.left, limit.Until)
			}
			if a.Blocked(sending{Resource: "core", Keep: keep(urgency)}, at.Add(time.Hour)) != nil || a.Blocked(sending{Resource: "graphql", Keep: keep(urgency)}, at) != nil {
				t.Errorf("%d left of core: urgency %d is stopped in the next hour, or in GraphQL", tc.left, urgency)
			}
		}
	}
}

func TestAnswersInAnotherOrderDoNotGiveRequestsBack(t *testing.T) {
	a, s := newHolding(0), sending{Resource: "core", Keep: keep(forge.Background)}
	for _, left := range []string{"1000", "1003"} {
		a.note(s, 200, headers("X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", left, "X-RateLimit-Reset", unix(at.Add(time.Hour))), nil, at)
	}
	if a.Blocked(s, at) == nil {
		t.Error("an older answer has given back what was used")
	}
	a.note(s, 200, headers("X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", "4999", "X-RateLimit-Reset", unix(at.Add(2*time.Hour))), nil, at.Add(time.Minute))
	if a.Blocked(s, at.Add(time.Minute)) != nil {
		t.Error("the next hour has not begun")
	}
}
