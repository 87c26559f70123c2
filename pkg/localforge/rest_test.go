package localforge_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestUnchangedAnswerIsNotModifiedAndCostsNothing(t *testing.T) {
	w := newEnv(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "x")
	path := "/api/v3/repos/acme/widgets/issues/1"
	first, _ := w.ask(t, "GET", path, adaToken, "")
	tag, used := first.Header.Get("ETag"), first.Header.Get("X-RateLimit-Used")
	second, body := w.ask(t, "GET", path, adaToken, "", "If-None-Match", tag)
	if second.StatusCode != http.StatusNotModified || body != "" || second.Header.Get("X-RateLimit-Used") != used {
		t.Errorf("answer = %d %q, used %s, want 304 and %s", second.StatusCode, body, second.Header.Get("X-RateLimit-Used"), used)
	}
	_, _, err := ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	third, _ := w.ask(t, "GET", path, adaToken, "", "If-None-Match", tag)
	if third.StatusCode != http.StatusOK || third.Header.Get("ETag") == tag {
		t.Errorf("after a change: %d, ETag %s", third.StatusCode, third.Header.Get("ETag"))
	}
}

func TestSpentQuotaIsRefusedUntilTheHourIsOver(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.RateLimit = 2 })
	for range 2 {
		resp, body := w.ask(t, "GET", "/user", adaToken, "")
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
	}
	resp, body := w.ask(t, "GET", "/user", adaToken, "")
	if resp.StatusCode != http.StatusForbidden || resp.Header.Get("X-RateLimit-Remaining") != "0" || !strings.Contains(body, "API rate limit exceeded") {
		t.Errorf("the third: %d %s", resp.StatusCode, body)
	}
	if resp, _ := w.ask(t, "GET", "/user", maxToken, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("another account: %d", resp.StatusCode)
	}
	w.clock.now = w.clock.now.Add(time.Hour)
	if resp, _ := w.ask(t, "GET", "/user", adaToken, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("an hour later: %d", resp.StatusCode)
	}
}

func TestWorksWithoutThePrefixToo(t *testing.T) {
	w := newEnv(t)
	c := github.NewClient(nil).WithAuthToken(adaToken)
	base, err := c.BaseURL.Parse(w.url + "/")
	must(t, err)
	c.BaseURL = base
	newIssue(t, c, "x")
	var out bytes.Buffer
	r, err := c.NewRequest("GET", "repos/acme/widgets/issues?state=all", nil)
	must(t, err)
	_, err = c.Do(t.Context(), r, &out)
	must(t, err)
	if !strings.Contains(out.String(), `"title":"x"`) {
		t.Errorf("issues = %s", out.String())
	}
}
