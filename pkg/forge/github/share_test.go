package github

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// together is an account that several clients share within a test.
type together struct {
	mu    sync.Mutex
	book  *allowance.Book
	away  bool // it does not answer
	asked []allowance.Ask
}

func newTogether() *together { return &together{book: allowance.NewBook()} }

func (s *together) Ask(_ context.Context, a allowance.Ask) (allowance.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
	if s.away {
		return allowance.Answer{}, errors.New("away")
	}
	return s.book.Ask(a, time.Now())
}

// process is a client of the server as a process of its own.
func (s *together) process(t *testing.T, forge *server, token string) *Client {
	t.Helper()
	c := forge.client(t, Config{Token: token})
	c.Share(s)
	return c
}

// write posts one comment after the other by each client at once, and returns how often
// that was put off.
func write(t *testing.T, each int, clients ...*Client) (putOff int) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, c := range clients {
		all.Go(func() {
			for range each {
				if _, err := c.Comment(t.Context(), place, 7, "x"); err != nil {
					mu.Lock()
					putOff++
					mu.Unlock()
					if !errors.Is(err, forge.ErrRateLimited) {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	return putOff
}

// apart returns the shortest time between two requests.
func (s *server) apart() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := time.Hour
	for i, at := range s.sent[min(1, len(s.sent)):] {
		least = min(least, at.Sub(s.sent[i]))
	}
	return least
}

func TestWritesOfProcessesWithOneTokenAreSpacedTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		tokens []string
		share  bool
		took   time.Duration
		apart  time.Duration
	}{
		"one token":             {[]string{"x", "x", "x"}, true, 11 * time.Second, time.Second},
		"one token, not shared": {[]string{"x", "x", "x"}, false, 3 * time.Second, 0},
		"a token each":          {[]string{"x", "y", "z"}, true, 3 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, shared, start := &server{}, newTogether(), time.Now()
				var clients []*Client
				for _, token := range tc.tokens {
					c := s.client(t, Config{Token: token})
					if tc.share {
						c.Share(shared)
					}
					clients = append(clients, c)
				}
				if n := write(t, 4, clients...); n != 0 {
					t.Errorf("%d were put off", n)
				}
				if took := time.Since(start); took != tc.took || s.apart() != tc.apart || len(s.sent) != 12 {
					t.Errorf("%d requests in %v, %v apart", len(s.sent), took, s.apart())
				}
			})
		})
	}
}

func TestInstallationsOfOneAppAndForgesOfOneTokenAreToldApart(t *testing.T) {
	s := &server{}
	name := func(c Config, holder string) string { return s.client(t, c).limiter.name(holder) }
	names := []string{
		name(Config{Token: "x"}, holderOf("x")), name(Config{Token: "y"}, holderOf("y")),
		name(Config{Token: "x", BaseURL: "https://github.example.com"}, holderOf("x")),
		name(Config{}, "installation 1"), name(Config{}, "installation 2"),
	}
	if slices.Sort(names); len(slices.Compact(names)) != 5 {
		t.Errorf("two have one name: %v", names)
	}
	if a, b := name(Config{Token: "x"}, holderOf("x")), name(Config{Token: "x", BaseURL: "https://github.com"}, holderOf("x")); a != b {
		t.Error("the same token at the same forge has two names")
	}
}

func TestASecondaryLimitThatOneProcessMeetsStopsTheWritesOfAllUntilTheSameEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, shared := time.Now(), newTogether()
		s := &server{reply: func(n int, w *httptest.ResponseRecorder, _ *http.Request) {
			if n == 1 {
				secondary(w, "300")
			}
		}}
		met, other := shared.process(t, s, "x"), shared.process(t, s, "x")
		stranger := shared.process(t, s, "y")
		until := func(_ any, err error) time.Duration {
			limit := new(forge.RateLimit)
			if !errors.As(err, &limit) {
				return 0
			}
			return limit.Until.Sub(start)
		}
		if got := until(met.Issue(t.Context(), place, 7)); got != 5*time.Minute {
			t.Fatalf("the first one waits for %v", got)
		}
		for range 3 {
			if got := until(other.Comment(t.Context(), place, 7, "x")); got != 5*time.Minute {
				t.Errorf("a write of the other one waits for %v", got)
			}
		}
		if got := until(other.Issue(t.Context(), place, 7)); got != 5*time.Minute {
			t.Errorf("a read after it waits for %v", got)
		}
		if _, err := stranger.Comment(t.Context(), place, 7, "x"); err != nil {
			t.Errorf("another token: %v", err)
		}
		if len(s.sent) != 2 {
			t.Errorf("%d requests were sent", len(s.sent))
		}
		time.Sleep(5 * time.Minute)
		if n := write(t, 1, met, other); n != 0 {
			t.Errorf("%d are put off after the limit", n)
		}
	})
}

func TestALimitIsToldOnce(t *testing.T) {
	for name, answer := range map[string]func(w *httptest.ResponseRecorder){
		"a secondary one": func(w *httptest.ResponseRecorder) { secondary(w, "300") },
		"an hour that is spent": func(w *httptest.ResponseRecorder) {
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", unix(time.Now().Add(20*time.Minute)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared := newTogether()
				s := &server{reply: func(_ int, w *httptest.ResponseRecorder, _ *http.Request) {
					time.Sleep(time.Second)
					answer(w)
				}}
				c := shared.process(t, s, "x")
				var all sync.WaitGroup
				for n := range 5 { // under way when the first one is answered
					all.Go(func() { _, _ = c.Issue(t.Context(), place, n+1) })
				}
				all.Wait()
				if len(s.sent) != 5 || len(shared.asked) != 1 || len(shared.asked[0].Told) != 1 {
					t.Errorf("%d requests, %d questions", len(s.sent), len(shared.asked))
				}
				if _, err := c.Issue(t.Context(), place, 9); !errors.Is(err, forge.ErrRateLimited) {
					t.Error(err)
				}
			})
		})
	}
}

func TestReadsHeedWhatOthersHaveTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		c, until := s.client(t, Config{Token: "x"}), time.Now().Add(time.Minute)
		if _, err := c.Issue(t.Context(), place, 7); err != nil {
			t.Fatal(err)
		}
		c.Heed(c.limiter.name(holderOf("y")), []allowance.Limit{{Until: until}})
		if _, err := c.Issue(t.Context(), place, 7); err != nil {
			t.Errorf("after the limit of another token: %v", err)
		}
		c.Heed(c.limiter.name(holderOf("x")), []allowance.Limit{{Resource: "core", Until: until, Hour: 5000}})
		_, err := c.Issue(t.Context(), place, 7)
		if limit := new(forge.RateLimit); !errors.As(err, &limit) || !limit.Until.Equal(until) {
			t.Error(err)
		}
	})
}

func TestReadsAndForgesWithoutAPaceAskNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shared := &server{}, newTogether()
		if _, err := shared.process(t, s, "x").Issue(t.Context(), place, 7); err != nil {
			t.Fatal(err)
		}
		near := s.client(t, Config{Token: "x", BaseURL: "http://127.0.0.1:1"})
		near.Share(shared)
		if write(t, 3, near); len(s.sent) != 4 || len(shared.asked) != 0 {
			t.Errorf("%d requests, %d questions", len(s.sent), len(shared.asked))
		}
	})
}

func TestAProcessThatIsNotAnsweredKeepsToItsOwnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shared, start := &server{}, newTogether(), time.Now()
		c := shared.process(t, s, "x")
		for _, shared.away = range []bool{false, true, false} {
			if n := write(t, 3, c); n != 0 {
				t.Errorf("away %t: %d were put off", shared.away, n)
			}
		}
		if took := time.Since(start); took != 8*time.Second || s.apart() != time.Second {
			t.Errorf("%v, %v apart", took, s.apart())
		}
	})
}

// The orchestrator has ended, and the next one knows of nothing.
func TestAnEmptyAccountGivesBackNothingOfWhatAProcessHasUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shared := &server{}, newTogether()
		c := s.client(t, Config{Token: "x", Pace: 100 * time.Millisecond})
		c.Share(shared)
		putOff := 0
		for range 3 {
			putOff += write(t, 30, c)
			shared.book = allowance.NewBook()
		}
		if len(s.sent) != 80 || putOff != 10 || s.apart() != 100*time.Millisecond {
			t.Errorf("%d creations in a minute, %v apart, %d put off", len(s.sent), s.apart(), putOff)
		}
	})
}

func TestWhoGivesUpWhileItWaitsForItsPlaceSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shared := &server{}, newTogether()
		a, b := shared.process(t, s, "x"), shared.process(t, s, "x")
		write(t, 1, a)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, err := b.Comment(ctx, place, 7, "x"); !errors.Is(err, context.DeadlineExceeded) || len(s.sent) != 1 {
			t.Errorf("%v, %d requests", err, len(s.sent))
		}
		if write(t, 1, a); time.Since(s.sent[0]) != 2*time.Second {
			t.Errorf("the next one is after %v", time.Since(s.sent[0]))
		}
	})
}
