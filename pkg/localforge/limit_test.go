package localforge_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/localforge/bare"
)

// half sends the beginning of a request for a pack, and no more. The status of the
// answer goes to answers, 0 if the connection ends without one.
func (e *env) half(t *testing.T, begins string, answers chan<- int) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
	must(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "POST /%s.git/git-upload-pack HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nAuthorization: Basic %s\r\n\r\n%s",
		full, base64.StdEncoding.EncodeToString([]byte("x:"+maxToken)), begins)
	must(t, err)
	go func() {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			answers <- 0
			return
		}
		answers <- resp.StatusCode
	}()
}

func TestHalfRequestsHoldNoGitProcess(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.Git = bare.Limits{Processes: 1, Idle: time.Hour} })
	answers := make(chan int, 60)
	for range 60 {
		w.half(t, "", answers)
	}
	w.clone(t, maxToken) // there is one process, and it is free
	if len(answers) > 0 {
		t.Errorf("one was answered with %d", <-answers)
	}
}

func TestRequestsThatStallHoldAsManyGitProcessesAsMayBe(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.Git = bare.Limits{Processes: 4, Idle: time.Hour} })
	answers := make(chan int, 60)
	for range 60 {
		w.half(t, "0013command=ls-refs", answers)
	}
	for range 56 {
		if status := <-answers; status != http.StatusServiceUnavailable {
			t.Fatalf("one is answered with %d", status)
		}
	}
	if resp, _ := w.ask(t, "GET", "/"+full+".git/info/refs?service=git-upload-pack", maxToken, ""); resp.StatusCode != http.StatusServiceUnavailable ||
		resp.Header.Get("Retry-After") == "" {
		t.Errorf("a clone is answered with %s", resp.Status)
	}
}

func TestARequestThatStallsEnds(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) {
		c.Git = bare.Limits{Processes: 1, Wait: time.Hour, Idle: 50 * time.Millisecond}
	})
	answers := make(chan int, 2)
	w.half(t, "", answers)
	w.half(t, "0013command=ls-refs", answers)
	for range 2 {
		<-answers
	}
	w.clone(t, maxToken)
}

func TestWhoHasNoTokenReadsNothing(t *testing.T) {
	w := newEnv(t)
	rob := w.client(t, robToken)
	_, _, err := rob.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("a secret plan")})
	must(t, err)
	for _, path := range []string{
		"/", "/acme/widgets", "/acme/widgets/issues", "/acme/widgets/issues/1", "/acme/widgets/pulls",
		"/api/v3/repos/acme/widgets", "/api/v3/repos/acme/widgets/issues", "/api/v3/repos/acme/widgets/issues/1", "/repos/acme/widgets/contents/README.md",
		"/api/v3/repos/acme/widgets/commits", "/api/v3/user", "/acme/widgets.git/info/refs?service=git-upload-pack",
		"/acme/widgets.git/info/refs?service=git-receive-pack",
	} {
		resp, body := w.ask(t, "GET", path, "", "")
		if strings.Contains(body, "widgets") && path != "/" || strings.Contains(body, "secret plan") || resp.StatusCode < 400 && path != "/" {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
		if path == "/" && strings.Contains(body, "widgets") {
			t.Errorf("%s names a repository: %s", path, body)
		}
	}
	resp, body := w.ask(t, "POST", "/api/graphql", "", `{"query":"{repository(owner:\"acme\",name:\"widgets\"){id}}"}`)
	if strings.Contains(body, `"id"`) {
		t.Errorf("GraphQL: %s %s", resp.Status, body)
	}
	if _, err := git.New(t.TempDir()).Run(t.Context(), "clone", "-q", w.url+"/"+full+".git", "."); err == nil {
		t.Error("it was cloned")
	}
}

func TestAnExchangeOutlastsTheLimitsOfItsServer(t *testing.T) {
	w := newEnv(t)
	server := httptest.NewUnstartedServer(w.Handler())
	server.Config.ReadHeaderTimeout, server.Config.ReadTimeout, server.Config.WriteTimeout = time.Hour, time.Nanosecond, time.Nanosecond
	server.Start()
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/"+full+".git/git-upload-pack",
		strings.NewReader("0014command=ls-refs\n0000"))
	must(t, err)
	r.SetBasicAuth("x", maxToken)
	r.Header.Set("Git-Protocol", "version=2")
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	if refs, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(refs), "refs/heads/main") {
		t.Errorf("%s %q: %v", resp.Status, refs, err)
	}
}
