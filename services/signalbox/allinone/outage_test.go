package allinone_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
)

// outage is the faults of a forge: for a while it is away, the first answers to each kind
// of write are lost after their effect, its lists are old, and it computes for long.
type outage struct {
	away      time.Duration
	stale     time.Duration // the age of lists
	computing time.Duration
	lost      int            // answers of each kind of write
	old       *regexp.Regexp // the lists that are old
	pace      time.Duration

	mu     sync.Mutex
	until  time.Time      // the end of being away; zero: that has not begun
	failed map[string]int // by kind of fault
	writes map[string]int // by kind of write
}

// short is over in seconds. No answer is lost where a list is old: then it takes
// seconds more until something is created again.
func short() *outage {
	return &outage{away: time.Second, stale: time.Second, computing: 2 * time.Second, lost: 1, old: regexp.MustCompile(`widgets/(issues|issues/comments)$`)}
}

// long is as GitHub is on a bad day.
func long(away time.Duration) *outage {
	return &outage{away: away, stale: 10 * time.Second, computing: time.Minute, lost: 2, pace: time.Millisecond,
		old: regexp.MustCompile(`/(issues|comments|pulls|reviews)$`)}
}

// staleness says how old the answer to a request of the services is.
func (o *outage) staleness(r *http.Request) time.Duration {
	if o.old.MatchString(r.URL.Path) && services(r) {
		return o.stale
	}
	return 0
}

// services reports whether the request is one of the services, and not of the test.
func services(r *http.Request) bool {
	_, password, _ := r.BasicAuth() // of git
	return password == botToken || strings.HasSuffix(r.Header.Get("Authorization"), " "+botToken)
}

// fault returns how the request fails. The forge is away from the first pull request on.
func (o *outage) fault(r *http.Request) *localforge.Fault {
	if !services(r) {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	kind := r.Method + " " + numbers.ReplaceAllString(shas.ReplaceAllString(r.URL.Path, "SHA"), "/N")
	if kind == "POST /api/v3/repos/"+widgets+"/pulls" && o.until.IsZero() {
		o.until = time.Now().Add(o.away)
	}
	if time.Now().Before(o.until) {
		return o.badly("away", []localforge.Fault{{Status: http.StatusServiceUnavailable}, {Delay: 100 * time.Millisecond}, {Half: true},
			{Status: http.StatusBadGateway, After: true}, {Status: http.StatusInternalServerError}, {After: true}})
	}
	if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/git-upload-pack") || strings.HasSuffix(r.URL.Path, "/graphql") {
		return nil
	}
	if o.writes[kind]++; o.writes[kind] > o.lost {
		return nil
	}
	return o.badly("lost", []localforge.Fault{{After: true}, {Status: http.StatusBadGateway, After: true}, {Half: true}})
}

// delivery has webhooks lost, doubled, late and out of order, each in its turn.
func (o *outage) delivery(localforge.Delivery) *localforge.DeliveryFault {
	o.mu.Lock()
	defer o.mu.Unlock()
	of := []*localforge.DeliveryFault{nil, {Drop: true}, {Twice: true}, {Behind: 2}, {Delay: 300 * time.Millisecond}}
	o.failed["webhook"]++
	return of[o.failed["webhook"]%len(of)]
}

// badly returns the next of the faults of a kind.
func (o *outage) badly(kind string, of []localforge.Fault) *localforge.Fault {
	f := of[o.failed[kind]%len(of)]
	o.failed[kind]++
	return &f
}

// TestAnOutageOfTheForgeDoublesAndGivesUpNothing has an issue go on to its merge while the
// forge is away, loses answers after their effect, shows old lists, computes for long, and
// delivers webhooks late, twice or never.
// SIGNALBOX_OUTAGE is how long it is away; then all else is as long as at GitHub.
func TestAnOutageOfTheForgeDoublesAndGivesUpNothing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o, limit := short(), patience
	if text := os.Getenv("SIGNALBOX_OUTAGE"); text != "" {
		away, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("SIGNALBOX_OUTAGE=%s: want a duration such as 5m", text)
		}
		o, limit = long(away), 3*away+15*time.Minute
	}
	o.failed, o.writes = map[string]int{}, map[string]int{}
	began := time.Now()
	withMerge(t, mergeConfig{every: 500 * time.Millisecond, check: time.Second, pace: o.pace, limit: limit, hooks: true,
		forge: func(c *localforge.Config) {
			c.Fault, c.Stale, c.ComputingFor, c.Delivery = o.fault, o.staleness, o.computing, o.delivery
		},
	}, func(m *mergeEnv) {
		if !m.merge() {
			return
		}
		t.Logf("merged after %s, with the faults %v", time.Since(began).Round(time.Second), o.failed)
		m.checkEffects()
	})
	for _, kind := range []string{"away", "lost", "webhook"} {
		if o.failed[kind] == 0 {
			t.Errorf("nothing was %s: this proves nothing of it", kind)
		}
	}
	for _, kind := range []string{"POST /api/v3/repos/acme/widgets/issues/N/comments", "POST /api/v3/repos/acme/widgets/pulls", "PUT /api/v3/repos/acme/widgets/pulls/N/merge"} {
		if o.writes[kind] == 0 {
			t.Errorf("%s: no answer was lost: this proves nothing of it", kind)
		}
	}
}

// checkEffects compares the forge with the log: nothing is doubled or missing, and nothing
// was put to people.
func (m *mergeEnv) checkEffects() {
	m.Helper()
	m.mu.Lock()
	entries := m.entries
	m.mu.Unlock()
	for _, e := range entries {
		for _, event := range e.Events {
			switch event := event.(type) {
			case instance.Escalated, instance.Paused:
				m.Errorf("%s: %s", e.Instance, fmt.Sprintf("%T %+v", event, event))
			}
		}
	}
	on, err := effectcheck.Read(m.ctx, effectcheck.Forge{URL: m.url + "/api/v3", Git: m.url, Token: annToken, Bot: "signalbox"}, widgets)
	if err != nil {
		m.Error(err)
		return
	}
	report := effectcheck.Check(entries, on, workflow.NewCatalog(m.definitions...).Hashed)
	for _, v := range report.Violations {
		m.Error(v)
	}
	m.Logf("effects on the forge: %v", report.Effects)
}
