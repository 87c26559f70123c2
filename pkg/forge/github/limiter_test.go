package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/forge"
)

// server answers requests in a bubble.
type server struct {
	mu    sync.Mutex
	sent  []time.Time
	reply func(n int, w *httptest.ResponseRecorder, r *http.Request) // n counts from 1
	lose  func(r *http.Request, resp *http.Response) error           // loses an answer, or half of it; may be nil
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.sent = append(s.sent, time.Now())
	n, reply := len(s.sent), s.reply
	s.mu.Unlock()
	w := httptest.NewRecorder()
	if reply != nil {
		reply(n, w, r)
	}
	if w.Body.Len() == 0 {
		_, _ = io.WriteString(w, `{"number":7,"login":"ada"}`)
	}
	resp := w.Result()
	if s.lose != nil {
		if err := s.lose(r, resp); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

func (s *server) client(t *testing.T, c Config) *Client {
	t.Helper()
	c.HTTPClient = &http.Client{Transport: s}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

const place = "acme/widgets"

func secondary(w *httptest.ResponseRecorder, after string) {
	if after != "" {
		w.Header().Set("Retry-After", after)
	}
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.WriteString(`{"message":"You have exceeded a secondary rate limit"}`)
}

func TestASecondaryLimitStopsEverybodyAndOneRequestFindsOutThatItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &server{reply: func(n int, w *httptest.ResponseRecorder, _ *http.Request) {
			if n == 1 {
				secondary(w, "300")
			}
		}}
		c := s.client(t, Config{Token: "x"})
		for range 5 {
			_, err := c.Issue(t.Context(), place, 7)
			limit := new(forge.RateLimit)
			if !errors.As(err, &limit) || !limit.Until.Equal(start.Add(5*time.Minute)) || !strings.Contains(err.Error(), "secondary rate limit") {
				t.Fatalf("err = %v", err)
			}
		}
		if _, err := c.Comment(t.Context(), place, 7, "x"); !errors.Is(err, forge.ErrRateLimited) {
			t.Errorf("a write ended with %v", err)
		}
		if len(s.sent) != 1 || time.Since(start) > 0 {
			t.Errorf("%d requests were sent, in %v: those that cannot succeed go to nobody and wait for nothing", len(s.sent), time.Since(start))
		}
		time.Sleep(5 * time.Minute)
		if _, err := c.Issue(t.Context(), place, 7); err != nil {
			t.Errorf("after the limit: %v", err)
		}
	})
}

func TestALimitWithoutATimeLastsLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{reply: func(n int, w *httptest.ResponseRecorder, _ *http.Request) {
			if n <= 3 {
				secondary(w, "")
			}
		}}
		c := s.client(t, Config{Token: "x"})
		for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
			_, err := c.Issue(t.Context(), place, 7)
			limit := new(forge.RateLimit)
			if !errors.As(err, &limit) || time.Until(limit.Until) != want {
				t.Fatalf("err = %v, want a limit of %v", err, want)
			}
			time.Sleep(want)
		}
		if _, err := c.Issue(t.Context(), place, 7); err != nil {
			t.Error(err)
		}
	})
}

func TestWritesAreASecondApartAndReadsPassThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		c, start := s.client(t, Config{Token: "x"}), time.Now()
		var all sync.WaitGroup
		var tooLate []error
		var mu sync.Mutex
		for range 20 {
			all.Go(func() {
				if _, err := c.Comment(t.Context(), place, 7, "x"); err != nil {
					mu.Lock()
					defer mu.Unlock()
					tooLate = append(tooLate, err)
				}
			})
		}
		synctest.Wait()
		if _, err := c.Issue(t.Context(), place, 7); err != nil || time.Since(start) > 0 {
			t.Errorf("a read waited for %v: %v", time.Since(start), err)
		}
		all.Wait()
		if took := time.Since(start); took != 10*time.Second || len(s.sent) != 12 || len(tooLate) != 9 {
			t.Errorf("%d requests in %v, %d put off", len(s.sent), took, len(tooLate))
		}
		for _, err := range tooLate {
			limit := new(forge.RateLimit)
			if !errors.As(err, &limit) || limit.Until.Sub(start) != 11*time.Second {
				t.Errorf("put off with %v", err)
			}
		}
	})
}

func TestAForgeOnThisMachineIsNotPaced(t *testing.T) {
	for address, want := range map[string]time.Duration{
		"api.github.com": time.Second, "github.example.com:8443": time.Second, "10.0.0.1": time.Second,
		"127.0.0.1:4321": 0, "localhost:80": 0, "[::1]:80": 0,
	} {
		if got := paceFor(0, address); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	if paceFor(-1, "api.github.com") != 0 || paceFor(time.Minute, "localhost") != time.Minute {
		t.Error("the setting does not hold")
	}
}

// Of two installations that share a client one is at its limit.
func TestALimitIsOfOneHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{reply: func(n int, w *httptest.ResponseRecorder, r *http.Request) {
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Reset", unix(time.Now().Add(time.Hour)))
			w.Header().Set("X-RateLimit-Remaining", map[bool]string{true: "0", false: "4000"}[strings.Contains(r.URL.Path, "/acme/")])
		}}
		c := s.client(t, Config{Token: "x"})
		c.credentials = byOwner{}
		for range 3 {
			if _, err := c.Issue(t.Context(), "other/things", 7); err != nil {
				t.Fatal(err)
			}
			_, err := c.Issue(t.Context(), place, 7)
			if first := len(s.sent) == 2; first != (err == nil) || !first && !errors.Is(err, forge.ErrRateLimited) {
				t.Fatalf("after %d requests: %v", len(s.sent), err)
			}
		}
		registry := prometheus.NewRegistry()
		for range 2 { // two services of a process
			if err := c.Register(registry); err != nil {
				t.Fatal(err)
			}
		}
		if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP signalbox_forge_left Requests that are left in this hour, by token or installation, and by resource.
# TYPE signalbox_forge_left gauge
signalbox_forge_left{resource="core",token="installation acme"} 0
signalbox_forge_left{resource="core",token="installation other"} 4000
`), "signalbox_forge_left"); err != nil {
			t.Error(err)
		}
		sums := c.limiter.sums()
		for kind, want := range map[string]int{wasCounted: 4, wasLimited: 2, wasDenied: 0} {
			if n, there := sums[count{"read", kind}]; n != want || !there {
				t.Errorf("%d reads were %s (a series: %t), want %d", n, kind, there, want)
			}
		}
	})
}

// byOwner are credentials of one installation an owner.
type byOwner struct{}

func (byOwner) of(_ context.Context, owner, _ string) (credential, error) {
	return credential{"token of " + owner, "installation " + owner}, nil
}

func (byOwner) refused(credential) {}

func TestEqualReadsShareOnlyWhatIsNotSentYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{reply: func(n int, w *httptest.ResponseRecorder, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = fmt.Fprintf(w, `{"number":7,"title":"%d"}`, n)
		}}
		c := s.client(t, Config{Token: "x"})
		var all sync.WaitGroup
		var got [4]string
		for i := range got {
			all.Go(func() {
				issue, err := c.Issue(t.Context(), place, 7)
				if err != nil {
					t.Error(err)
				}
				got[i] = issue.Title
			})
			synctest.Wait()
		}
		all.Wait()
		if got != [4]string{"1", "2", "2", "2"} {
			t.Errorf("got %v: who comes while a read is sent shares the one after it", got)
		}
	})
}

func TestWhoSharesAReadGoesOnIfTheSenderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{reply: func(int, *httptest.ResponseRecorder, *http.Request) { time.Sleep(time.Second) }}
		c := s.client(t, Config{Token: "x"})
		impatient, giveUp := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 4 {
			ctx := t.Context()
			if i == 1 { // it would send what the later ones share
				ctx = impatient
			}
			all.Go(func() {
				if _, err := c.Issue(ctx, place, 7); (err != nil) != (i == 1) {
					t.Errorf("%d: %v", i, err)
				}
			})
			synctest.Wait()
		}
		giveUp()
		all.Wait()
		if len(s.sent) != 2 {
			t.Errorf("%d requests were sent", len(s.sent))
		}
	})
}

func TestAnOutageDoesNotCostWhatWasReadBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		s := &server{reply: func(_ int, w *httptest.ResponseRecorder, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			switch {
			case down:
				w.WriteHeader(http.StatusBadGateway)
				_, _ = w.WriteString("bad gateway")
			case r.Header.Get("If-None-Match") == `"1"`:
				w.WriteHeader(http.StatusNotModified)
			}
		}}
		c := s.client(t, Config{Token: "x"})
		for _, down = range []bool{false, true, true, false} {
			if issue, err := c.Issue(t.Context(), place, 7); (err != nil) != down || !down && issue.Number != 7 {
				t.Errorf("down %t: %+v %v", down, issue, err)
			}
		}
		if n := c.limiter.sums()[count{"read", wasUnchanged}]; n != 1 {
			t.Errorf("%d reads were confirmed after the outage: %v", n, c.limiter.sums())
		}
	})
}

// A comment whose answer is lost, on a forge whose lists are ten seconds old.
func TestALostAnswerAndLateListsMakeNothingTwice(t *testing.T) {
	for _, how := range []string{"no answer", "half an answer", "502"} {
		synctest.Test(t, func(t *testing.T) {
			var made []time.Time
			s := &server{}
			s.reply = func(_ int, w *httptest.ResponseRecorder, r *http.Request) {
				if r.Method == http.MethodPost {
					if made = append(made, time.Now()); len(made) == 1 {
						w.WriteHeader(map[bool]int{true: http.StatusBadGateway, false: http.StatusCreated}[how == "502"])
						return
					}
					w.WriteHeader(http.StatusCreated)
					return
				}
				if strings.HasSuffix(r.URL.Path, "/user") {
					return
				}
				list := []string{}
				for i, at := range made {
					if time.Since(at) > 10*time.Second {
						list = append(list, fmt.Sprintf(`{"id":%d,"body":"hello\n\nmark","user":{"login":"ada"}}`, i+1))
					}
				}
				_, _ = fmt.Fprintf(w, "[%s]", strings.Join(list, ","))
			}
			s.lose = func(r *http.Request, resp *http.Response) error {
				switch first := r.Method == http.MethodPost && len(made) == 1; {
				case first && how == "no answer":
					return io.ErrUnexpectedEOF
				case first && how == "half an answer":
					resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"id":`), iotest.ErrReader(io.ErrUnexpectedEOF)))
				}
				return nil
			}
			c := s.client(t, Config{Token: "x"})
			for {
				_, err := forge.Post(t.Context(), c, place, 7, "mark", "hello")
				limit := new(forge.RateLimit)
				switch {
				case err == nil:
					if len(made) != 1 {
						t.Errorf("%d comments were made", len(made))
					}
					return
				case errors.As(err, &limit):
					time.Sleep(time.Until(limit.Until))
				case errors.Is(err, forge.ErrUnavailable):
					time.Sleep(time.Second)
				default:
					t.Fatal(err)
				}
			}
		})
	}
}
