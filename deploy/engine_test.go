package deploy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTheSetTakesAnIssueToItsEndAndLosesNothingWithAContainer runs what `make containers QUICK=1` does, in less time.
func TestTheSetTakesAnIssueToItsEndAndLosesNothingWithAContainer(t *testing.T) {
	began := time.Now()
	phase := func(format string, args ...any) {
		t.Logf("%5.1f s  %s", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	s := newContainers(t)
	s.start(t, "nats", "")
	s.start(t, "local-forge", "")
	for _, name := range []string{"orchestrator", "orchestrator", "gateway", "pm", "analyst", "tester", "developer", "console"} {
		s.start(t, name, fmt.Sprint(len(s.started)))
	}
	s.untilHealthy(t)
	phase("%d containers are healthy", len(s.started))

	s.push(t)
	s.post(t, "issues", "issue.json")
	s.untilState(t, 1, "waiting_for_requirements_clarification")
	phase("the issue has its questions")
	s.post(t, "issues/1/comments", "answer.json")
	developer := s.started[len(s.started)-2]
	s.docker(t, "kill", developer)
	s.docker(t, "start", developer)
	s.docker(t, "kill", s.name+"-orchestrator") // the other takes over
	phase("it is answered; the developer was killed and started, and the active orchestrator was killed")
	s.untilState(t, 1, "completed")
	phase("it is completed")
	if out, err := s.signalbox("audit"); err != nil {
		t.Errorf("audit: %v\n%s", err, out)
	}
	s.checkConsole(t)
	phase("the console shows it to a person who has signed in")
}

// checkConsole signs in by a link, and reads the board.
func (s *containers) checkConsole(t *testing.T) {
	t.Helper()
	out, err := s.signalbox("console", "login")
	if err != nil {
		t.Fatalf("console login: %v\n%s", err, out)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	published := s.docker(t, "port", s.name+"-console", "4280")
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, published)
	}}}
	for _, page := range [][2]string{
		{regexp.MustCompile(`http://\S+`).FindString(out), "You act here as"}, {"http://localhost:4280/i/acme/widgets/1", "Some widgets never show up"},
	} {
		address, want := page[0], page[1]
		answer, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(page), want) {
			t.Errorf("%s: %s, %v:\n%.2000s", address, answer.Status, err, page)
		}
	}
}
