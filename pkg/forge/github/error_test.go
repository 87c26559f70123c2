package github_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// answering is a client of a server that gives one answer only.
func answering(t *testing.T, status int, header map[string]string, body string) *github.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	c, err := github.New(github.Config{BaseURL: server.URL, Token: "s3cret", MaxWait: time.Millisecond})
	must(t, err)
	return c
}

func TestAnswersAreClassified(t *testing.T) {
	reset := time.Now().Add(30 * time.Minute).Truncate(time.Second)
	spent := map[string]string{"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10)}
	left := map[string]string{"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "7", "X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10)}
	retry := map[string]string{"Retry-After": "120"}
	for _, tc := range []struct {
		what   string
		status int
		header map[string]string
		body   string
		want   error
		until  time.Duration // from now, for limits; within a minute
	}{
		{"not found", 404, nil, `{"message":"Not Found"}`, forge.ErrNotFound, 0},
		{"gone", 410, nil, `{"message":"This issue was deleted"}`, forge.ErrNotFound, 0},
		{"bad credentials", 401, nil, `{"message":"Bad credentials"}`, forge.ErrDenied, 0},
		{"a second factor", 401, map[string]string{"X-GitHub-OTP": "required; app"}, `{"message":"Must specify two-factor authentication OTP code."}`, forge.ErrDenied, 0},
		{"no permission", 403, left, `{"message":"Resource not accessible by integration"}`, forge.ErrDenied, 0},
		{"unavailable for legal reasons", 451, nil, `{"message":"Repository access blocked"}`, forge.ErrDenied, 0},
		{"validation", 422, nil, `{"message":"Validation Failed","errors":["plain words"]}`, forge.ErrInvalid, 0},
		{"conflict", 409, nil, `{"message":"Git Repository is empty."}`, forge.ErrInvalid, 0},
		{"primary limit", 403, spent, `{"message":"API rate limit exceeded"}`, forge.ErrRateLimited, 30 * time.Minute},
		{"primary limit as 429", 429, spent, `{"message":"API rate limit exceeded"}`, forge.ErrRateLimited, 30 * time.Minute},
		{"secondary limit", 403, retry, `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`,
			forge.ErrRateLimited, 2 * time.Minute},
		{"secondary limit without the link", 403, retry, `{"message":"You have exceeded a secondary rate limit"}`, forge.ErrRateLimited, 2 * time.Minute},
		{"secondary limit without a time", 403, left, `{"message":"You have triggered an abuse rate limit"}`, forge.ErrRateLimited, time.Minute},
		{"429 without anything", 429, nil, ``, forge.ErrRateLimited, time.Minute},
		{"a server's fault", 502, nil, `<html>Bad Gateway</html>`, forge.ErrUnavailable, 0},
		{"success that is not JSON", 200, nil, `<html>Please log in</html>`, forge.ErrUnavailable, 0},
		{"a redirect to nowhere", 304, nil, ``, forge.ErrUnavailable, 0},
	} {
		t.Run(tc.what, func(t *testing.T) {
			_, err := answering(t, tc.status, tc.header, tc.body).Self(t.Context())
			if !errors.Is(err, tc.want) {
				t.Fatalf("err = %v, want %v", err, tc.want)
			}
			for _, other := range []error{forge.ErrNotFound, forge.ErrDenied, forge.ErrRateLimited, forge.ErrUnavailable, forge.ErrInvalid} {
				if other != tc.want && errors.Is(err, other) {
					t.Errorf("err = %v is %v as well", err, other)
				}
			}
			if _, message, ok := strings.Cut(tc.body, `"message":"`); ok {
				if message, _, _ = strings.Cut(message, `"`); !strings.Contains(err.Error(), message) {
					t.Errorf("err = %v, without %q", err, message)
				}
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the token is in %v", err)
			}
			var limit *forge.RateLimit
			if got := errors.As(err, &limit); got != (tc.until != 0) {
				t.Fatalf("%v is a limit: %t", err, got)
			}
			if limit != nil {
				if off := time.Until(limit.Until) - tc.until; off > time.Minute || off < -time.Minute {
					t.Errorf("until %v, want about %v from now", limit.Until, tc.until)
				}
			}
		})
	}
}

func TestServerThatIsNotThereIsUnavailable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := github.New(github.Config{BaseURL: server.URL, Token: "s3cret"})
	must(t, err)
	_, err = c.CreateIssue(t.Context(), repo, forge.NewIssue{Title: "x"})
	if !errors.Is(err, forge.ErrUnavailable) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("err = %v", err)
	}
}

func TestShortLimitIsWaitedOutAndTheRequestSentWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []string
		transport := transportFunc(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			must(t, err)
			bodies = append(bodies, strings.TrimSpace(string(body)))
			answer := httptest.NewRecorder()
			if len(bodies) == 1 {
				answer.Header().Set("Retry-After", "9")
				answer.WriteHeader(http.StatusForbidden)
				answer.WriteString(`{"message":"You have exceeded a secondary rate limit"}`)
			} else {
				answer.WriteHeader(http.StatusCreated)
				answer.WriteString(`{"number":7}`)
			}
			return answer.Result(), nil
		})
		c, err := github.New(github.Config{HTTPClient: &http.Client{Transport: transport}})
		must(t, err)
		start := time.Now()
		made, err := c.CreateIssue(t.Context(), repo, forge.NewIssue{Title: "x"})
		must(t, err)
		if waited := time.Since(start); made.Number != 7 || waited < 8*time.Second || waited > 10*time.Second {
			t.Errorf("issue = %+v after %v", made, waited)
		}
		if want := `{"title":"x","body":""}`; !slices.Equal(bodies, []string{want, want}) {
			t.Errorf("bodies = %q", bodies)
		}
	})
}

func TestTokenStaysWithItsHost(t *testing.T) {
	var elsewhere string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere = "asked with " + r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"login":"ada"}`))
	}))
	defer other.Close()
	var here string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		here = r.Header.Get("Authorization")
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	c, err := github.New(github.Config{BaseURL: server.URL, Token: "s3cret"})
	must(t, err)
	_, err = c.Self(t.Context())
	must(t, err)
	if here != "Bearer s3cret" || elsewhere != "asked with " {
		t.Errorf("here %q, elsewhere %q", here, elsewhere)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	for why, config := range map[string]github.Config{
		"no scheme":           {BaseURL: "github.example.com"},
		"credentials":         {BaseURL: "https://ada:s3cret@github.example.com"},
		"another scheme":      {BaseURL: "ftp://github.example.com"},
		"no URL":              {BaseURL: "https://%zz"},
		"two kinds of tokens": {Token: "s3cret", TokenFile: "/run/token"},
	} {
		_, err := github.New(config)
		if !errors.Is(err, forge.ErrInvalid) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: err = %v", why, err)
		}
	}
}

func TestWhereRequestsGo(t *testing.T) {
	for base, want := range map[string]string{
		"":                                   "https://api.github.com/user",
		"https://github.com":                 "https://api.github.com/user",
		"https://api.github.com/":            "https://api.github.com/user",
		"https://github.example.com":         "https://github.example.com/api/v3/user",
		"https://github.example.com/api/v3/": "https://github.example.com/api/v3/user",
	} {
		var asked *url.URL
		transport := transportFunc(func(r *http.Request) (*http.Response, error) {
			asked = r.URL
			return nil, errors.New("no network")
		})
		c, err := github.New(github.Config{BaseURL: base, HTTPClient: &http.Client{Transport: transport}})
		must(t, err)
		if _, err := c.Self(t.Context()); !errors.Is(err, forge.ErrUnavailable) || asked.String() != want {
			t.Errorf("%q asks %v, want %s (err = %v)", base, asked, want, err)
		}
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A loaded machine may let more time pass than a request may wait.
func TestARequestThatNeedsNoWaitingIsSentHoweverLate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"login":"ann"}`)) }))
	t.Cleanup(server.Close)
	c, err := github.New(github.Config{BaseURL: server.URL, Token: "s3cret", MaxWait: time.Nanosecond})
	must(t, err)
	if _, err := c.Self(t.Context()); errors.Is(err, forge.ErrRateLimited) {
		t.Error(err)
	}
}
