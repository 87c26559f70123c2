package localforge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestAnAccountThatWritesTooFastIsRefused(t *testing.T) {
	for _, limit := range []localforge.Secondary{{Writes: 2}, {Writes: 2, Status: 429}, {Writes: 2, Silent: true}, {Writes: 2, Within: time.Hour}} {
		t.Run(fmt.Sprintf("%+v", limit), func(t *testing.T) {
			now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			w := newEnv(t, func(c *localforge.Config) { c.Secondary, c.Now = limit, func() time.Time { return now } })
			write := func(token string) (*http.Response, string) {
				return w.ask(t, "POST", "/api/v3/repos/"+full+"/issues", token, `{"title":"x"}`)
			}
			for range 2 {
				if resp, body := write(robToken); resp.StatusCode != http.StatusCreated {
					t.Fatalf("%s %s", resp.Status, body)
				}
			}
			resp, body := write(robToken)
			want, after := http.StatusForbidden, "61"
			if limit.Status != 0 {
				want = limit.Status
			}
			if limit.Within != 0 {
				after = "3601"
			}
			if limit.Silent {
				after = ""
			}
			if resp.StatusCode != want || resp.Header.Get("Retry-After") != after || strings.Contains(body, "documentation_url") == limit.Silent ||
				!strings.Contains(body, "secondary rate limit") {
				t.Errorf("%s, after %q: %s", resp.Status, resp.Header.Get("Retry-After"), body)
			}
			if resp, _ := write(maxToken); resp.StatusCode != http.StatusCreated {
				t.Errorf("another account: %s", resp.Status)
			}
			if resp, _ := w.ask(t, "GET", "/api/v3/repos/"+full+"/issues", robToken, ""); resp.StatusCode != http.StatusOK {
				t.Errorf("a read: %s", resp.Status)
			}
			now = now.Add(time.Hour)
			if resp, _ := write(robToken); resp.StatusCode != http.StatusCreated {
				t.Errorf("after the limit: %s", resp.Status)
			}
		})
	}
}

func TestGraphQLIsCountedByItself(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.RateLimit = 2 })
	for range 2 {
		if resp, body := w.ask(t, "POST", "/api/graphql", robToken, `{"query":"{viewer{login}}"}`); resp.StatusCode != http.StatusOK ||
			resp.Header.Get("X-RateLimit-Resource") != "graphql" {
			t.Fatalf("%s %s", resp.Status, body)
		}
	}
	if resp, _ := w.ask(t, "POST", "/api/graphql", robToken, `{"query":"{viewer{login}}"}`); resp.StatusCode != http.StatusForbidden {
		t.Errorf("one too many: %s", resp.Status)
	}
	if resp, _ := w.ask(t, "GET", "/api/v3/repos/"+full, robToken, ""); resp.StatusCode != http.StatusOK || resp.Header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("REST: %s, %s left", resp.Status, resp.Header.Get("X-RateLimit-Remaining"))
	}
}
