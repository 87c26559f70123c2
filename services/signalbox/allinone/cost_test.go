package allinone_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// costs counts requests of the forge, by endpoint. An answer that nothing has changed is
// not counted by the forge.
type costs struct {
	mu            sync.Mutex
	counted, free map[string]int
	more          chan struct{}
}

var (
	shas    = regexp.MustCompile(`[0-9a-f]{40}`)
	numbers = regexp.MustCompile(`/\d+`)
)

func (c *costs) see(r *http.Request, status int) {
	path := strings.TrimPrefix(r.URL.Path, "/api/v3")
	if path == r.URL.Path && !strings.HasSuffix(path, "/graphql") {
		return // of git
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := r.Method + " " + numbers.ReplaceAllString(shas.ReplaceAllString(strings.TrimPrefix(path, "/repos/"+widgets), "SHA"), "/N")
	if status == http.StatusNotModified {
		c.free[name]++
	} else {
		c.counted[name]++
	}
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// started waits until the gateway has asked for every list, and returns what was counted
// so far. It counts from then on.
func (c *costs) started() (counted int) {
	for {
		c.mu.Lock()
		if c.counted["GET /issues"] > 0 && c.counted["GET /issues/comments"] > 0 && c.counted["GET /pulls"] > 0 {
			for _, n := range c.counted {
				counted += n
			}
			c.counted, c.free = map[string]int{}, map[string]int{}
			c.mu.Unlock()
			return counted
		}
		c.mu.Unlock()
		<-c.more
	}
}

// mostRequests is what one issue from its report to the merge may cost, but for the polls of
// lists. A poll counts where a change came since the one before, so their number grows with the
// time that the issue takes: each list may be counted once a poll.
const mostRequests = 55

func polled(name string) bool {
	return slices.Contains([]string{"GET /issues", "GET /issues/comments", "GET /pulls"}, name)
}

// TestAnIssueFromReportToMergeCostsFewRequests prints with -v what it costs, by endpoint.
func TestAnIssueFromReportToMergeCostsFewRequests(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const every = time.Second
	began := time.Now()
	c, start := &costs{counted: map[string]int{}, free: map[string]int{}, more: make(chan struct{}, 1)}, 0
	withMerge(t, mergeConfig{every: every, check: time.Minute, limit: patience, see: c.see}, func(m *mergeEnv) {
		start = c.started()
		m.merge()
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	total, free, polls := 0, 0, int(time.Since(began)/every)+1
	for _, name := range slices.Sorted(maps.Keys(c.counted)) {
		t.Logf("%3d %s", c.counted[name], name)
		switch n := c.counted[name]; {
		case !polled(name):
			total += n
		case n > polls+1: // the gateway lists the open issues once more, to find those that were closed while it was away
			t.Errorf("%s is counted %d times in at most %d polls and one look", name, n, polls)
		}
	}
	for _, n := range c.free {
		free += n
	}
	t.Logf("%d counted without the polls of lists, %d unchanged; the start counted %d", total, free, start)
	if total > mostRequests || total < 10 {
		t.Errorf("it costs %d counted requests without the polls of lists, want at most %d", total, mostRequests)
	}
}
