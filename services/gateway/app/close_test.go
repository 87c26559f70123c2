package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// closings is a gateway that has just started, as far as it watches closed issues.
func (e *env) closings() *closings {
	return &closings{forge: e.forge.Client("signalbox"), client: client.New(e.server.Connect(e.T), "gateway"), cursors: cursors{e.kv}, repo: widgets,
		now: e.now, log: slog.New(slog.DiscardHandler)}
}

func (e *env) now() time.Time { return time.Date(2026, 1, 2, 9, 0, int(e.second.Load()), 0, time.UTC) }

// recent is a poller that takes up what is reported from now on.
func recent(p *poller) { p.all = false }

// request sends ann's request to the forge's API.
func (e *env) request(method, path, body string) {
	e.Helper()
	r, err := http.NewRequestWithContext(e.ctx, method, e.forge.URL+"/api/v3/repos/"+widgets+path, strings.NewReader(body))
	if err != nil {
		e.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+forgetest.Token("ann"))
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode > 299 {
		e.Fatal(method, path, reply.Status)
	}
}

func (e *env) close(issue int) {
	e.Helper()
	e.second.Add(1)
	e.request(http.MethodPatch, fmt.Sprintf("/issues/%d", issue), `{"state": "closed"}`)
}

func (e *env) closed(issue int) (how, reason string) {
	e.Helper()
	in, err := e.client.Get(e.ctx, Name(widgets, issue))
	if err != nil {
		e.Fatal(err)
	}
	return in.GetClosed(), in.GetReason()
}

func TestAnIssueThatIsClosedIsCancelled(t *testing.T) {
	e := newEnv(t)
	p, c := e.poller(), e.closings()
	given, kept, unknown := e.report(e.ann, "The sum is wrong"), e.report(e.ann, "So is mine"), 0
	e.poll(p)
	unknown = e.report(e.ann, "Nobody took this one up")
	e.close(given)
	e.close(unknown)
	for range 2 {
		if err := c.poll(e.ctx); err != nil {
			t.Fatal(err)
		}
		c = e.closings() // a restart
	}
	if how, reason := e.closed(given); how != "cancelled" || !strings.Contains(reason, "closed on the forge") {
		t.Errorf("what is closed is %q: %s", how, reason)
	}
	if how, _ := e.closed(kept); how != "" {
		t.Errorf("what is open is %q", how)
	}
}

func TestAnIssueThatItsOwnPullRequestClosedIsNotCancelled(t *testing.T) {
	for own, want := range map[bool]string{true: "", false: "cancelled"} {
		t.Run(fmt.Sprintf("own is %t", own), func(t *testing.T) {
			e := newEnv(t)
			n := e.report(e.ann, "The sum is wrong")
			e.poll(e.poller())
			if _, err := e.client.Override(e.ctx, Name(widgets, n), "creating_pr", "as far"); err != nil {
				t.Fatal(err)
			}
			g := git.New(t.TempDir()).WithIdentity("ann", "ann@example.com").WithToken(e.forge.URL, "ann-token")
			gittest.Run(t, g, "clone", "-q", e.forge.URL+"/"+widgets+".git", ".")
			gittest.Run(t, g, "checkout", "-q", "-b", "mend")
			gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "Mend it")
			gittest.Run(t, g, "push", "-q", "origin", "mend")
			repo, err := e.ann.Repository(e.ctx, widgets)
			if err != nil {
				t.Fatal(err)
			}
			body := fmt.Sprintf("Closes #%d.\n", n)
			if own {
				body += "\n" + rules.Marker(Name(widgets, n), "pull-request")
			}
			pr, err := e.ann.CreatePullRequest(e.ctx, widgets, forge.NewPullRequest{Title: "Mend it", Body: body, Head: "mend", Base: repo.DefaultBranch})
			if err != nil {
				t.Fatal(err)
			}
			e.second.Add(1)
			e.request(http.MethodPut, fmt.Sprintf("/pulls/%d/merge", pr.Number), `{}`)
			if err := e.closings().poll(e.ctx); err != nil {
				t.Fatal(err)
			}
			if is, err := e.ann.Issue(e.ctx, widgets, n); err != nil || is.State != "closed" {
				t.Fatalf("the issue is %q, %v", is.State, err)
			}
			if how, _ := e.closed(n); how != want {
				t.Errorf("it is %q, want %q", how, want)
			}
		})
	}
}

func TestIssuesThatWereOpenBeforeNeedALabel(t *testing.T) {
	e := newEnv(t)
	old, labelled := e.report(e.ann, "An old wish"), e.report(e.ann, "An old bug", "signalbox")
	settings := Settings{Forge: github.Flags{URL: e.forge.URL + "/api/v3/", Token: forgetest.Token("signalbox")}, Repo: []string{widgets},
		Workflow: "issue", Intake: DefaultIntake()}
	var said bytes.Buffer
	if err := settings.DryRun(e.ctx, &said); err != nil || !strings.Contains(said.String(), `#1 "An old wish": left alone: it was open before`) ||
		!strings.Contains(said.String(), `#2 "An old bug": would be taken up`) || !strings.Contains(said.String(), "1 of 2 open issues") {
		t.Errorf("a dry run says %s, %v", said.String(), err)
	}
	if got := e.instances(); len(got) != 0 {
		t.Fatalf("a dry run opens %q", got)
	}
	var log bytes.Buffer
	p := e.poller(strict, recent, func(p *poller) { p.log = slog.New(slog.NewTextHandler(&log, nil)) })
	e.poll(p)
	e.second.Add(1)
	reported := e.report(e.ann, "A new bug")
	e.say(e.ann, old, "any news?")
	e.poll(e.poller(strict, recent)) // after a restart
	want := []string{Name(widgets, labelled), Name(widgets, reported)}
	if got := e.instances(); !slices.Equal(got, want) {
		t.Errorf("the instances are %q, want %q", got, want)
	}
	if s := log.String(); strings.Count(s, "left alone") != 1 || !strings.Contains(s, "issues=1") {
		t.Errorf("the log is %s", s)
	}
	t.Run("and are taken up once they have it", func(t *testing.T) {
		e.second.Add(1)
		if err := e.ann.AddLabels(e.ctx, widgets, old, []string{"signalbox"}); err != nil {
			t.Fatal(err)
		}
		e.poll(e.poller(strict, recent))
		if got := e.instances(); len(got) != 3 {
			t.Errorf("the instances are %q", got)
		}
	})
}

func TestAllIssuesAreTakenUpWithAll(t *testing.T) {
	e := newEnv(t)
	e.report(e.ann, "An old wish")
	e.poll(e.poller(strict))
	if got := e.instances(); len(got) != 1 {
		t.Errorf("the instances are %q", got)
	}
}
