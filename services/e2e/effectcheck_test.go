package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
)

// forgeFixture is a forge on which one issue was worked on, and the log of it.
type forgeFixture struct {
	*testing.T
	forge     *testForge
	bot       git.Runner // in the bot's clone
	log       []effectcheck.Entry
	commentID int64
}

const (
	fixtureInstance  = repo + "/1"
	fixtureBranch    = "signalbox/issue-1-the-answer"
	fixtureIssuePath = "/repos/" + repo + "/issues/1"
)

func newForgeFixture(t *testing.T) *forgeFixture {
	t.Helper()
	f, url := serveForge(t, []string{repo}, answersRepo(t))
	f.SetURL(url)
	s := &forgeFixture{T: t, forge: connectForge(t, url), bot: git.New(t.TempDir()).WithToken(url, botToken).WithIdentity("bot",
		"bot@example.com")}
	s.forge.openIssue(t, "The answer", completeReport)
	s.git("clone", "-q", url+"/"+repo+".git", ".")
	base := s.git("rev-parse", "HEAD")
	s.git("checkout", "-q", "-b", fixtureBranch)
	head := s.push("worked")
	var pr struct{ Number int }
	s.request(http.MethodPost, "/repos/"+repo+"/pulls", map[string]any{"title": "Answer", "head": fixtureBranch, "base": "main",
		"body": "So.\n\n" + rules.Marker(fixtureInstance, "pull-request")}, &pr)
	c := s.postComment(fixtureInstance, "pull-request")
	s.commentID = c.ID
	r := instance.Result{Status: instance.Success, Data: map[string]string{
		"comment_url": c.URL, "pr_url": url, "pr_number": fmt.Sprint(pr.Number), "branch": fixtureBranch, "pushed": head,
	}}
	issue := instance.Issue{Repo: repo, Number: 1, Author: "ann"}
	for i, events := range [][]instance.Event{
		{instance.Opened{Workflow: "issue", State: "implementing", Kind: workflow.Work, Issue: issue, Base: base}},
		{instance.Claimed{Role: "developer"}},
		{instance.Reported{Role: "developer", State: "implementing", Result: instance.Result{Head: head}},
			instance.Moved{To: "creating_pr", Kind: workflow.Work}},
		{instance.Claimed{Role: "pm"}},
		{instance.Reported{Role: "pm", State: "creating_pr", Result: r}, instance.Moved{To: "completed", Kind: workflow.Final}},
	} {
		s.log = append(s.log, effectcheck.Entry{Instance: fixtureInstance, Commit: instance.Commit{Seq: uint64(i + 1), Events: events}})
	}
	return s
}

func (s *forgeFixture) git(args ...string) string {
	s.Helper()
	out, err := s.bot.Run(s.Context(), args...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// push adds an empty commit and pushes it.
func (s *forgeFixture) push(what string, how ...string) string {
	s.Helper()
	s.git("commit", "-q", "--allow-empty", "-m", what)
	s.git(append([]string{"push", "-q", "origin", "HEAD"}, how...)...)
	return s.git("rev-parse", "HEAD")
}

// request sends a request as the bot.
func (s *forgeFixture) request(method, path string, body, into any) {
	s.Helper()
	if err := s.forge.request(s.Context(), botToken, method, path, body, into); err != nil {
		s.Fatal(err)
	}
}

func (s *forgeFixture) postComment(of, key string) forge.Comment {
	s.Helper()
	var c struct {
		ID  int64
		URL string `json:"html_url"`
	}
	s.request(http.MethodPost, fixtureIssuePath+"/comments", map[string]any{"body": "So.\n\n" + rules.Marker(of, key)}, &c)
	return forge.Comment{ID: c.ID, URL: c.URL}
}

// TestTheCheckerFindsWhatIsPlantedOnAForge plants violations on a real forge. The
// checker finds each by reading the forge.
func TestTheCheckerFindsWhatIsPlantedOnAForge(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(s *forgeFixture)
		want  []effectcheck.Rule
	}{
		"nothing":           {func(*forgeFixture) {}, nil},
		"a doubled comment": {func(s *forgeFixture) { s.postComment(fixtureInstance, "pull-request") }, []effectcheck.Rule{"doubled"}},
		"one far behind it": {func(s *forgeFixture) {
			for range 120 { // more than a page
				if _, err := s.forge.ann.Comment(s.Context(), repo, 1, "Hm."); err != nil {
					s.Fatal(err)
				}
			}
			s.postComment(fixtureInstance, "pull-request")
		}, []effectcheck.Rule{"doubled"}},
		"a missing comment": {func(s *forgeFixture) { s.remove(fmt.Sprint("/issues/comments/", s.commentID)) },
			[]effectcheck.Rule{"missing"}},
		"a foreign marker": {func(s *forgeFixture) { s.postComment("acme/other/7", "pull-request") }, []effectcheck.Rule{"foreign"}},
		"a comment nobody intended": {func(s *forgeFixture) { s.postComment(fixtureInstance, "questions-1") },
			[]effectcheck.Rule{"unexplained"}},
		"a second pull request": {(*forgeFixture).replacePull, []effectcheck.Rule{"doubled"}},
		"a merge without its record": {func(s *forgeFixture) { s.request(http.MethodPut, "/repos/"+repo+"/pulls/2/merge", nil, nil) },
			[]effectcheck.Rule{"merge"}},
		"a branch with another head": {func(s *forgeFixture) { s.push("more") }, []effectcheck.Rule{"head", "head"}},
		"a commit that was lost": {func(s *forgeFixture) { s.git("reset", "-q", "--hard", "HEAD~"); s.push("instead", "--force") },
			[]effectcheck.Rule{"head", "lost", "unexplained"}},
		"a branch nobody intended": {func(s *forgeFixture) { s.git("push", "-q", "origin", "HEAD:refs/heads/x") },
			[]effectcheck.Rule{"unexplained"}},
		"a branch that was taken off": {func(s *forgeFixture) { s.remove("/git/refs/heads/" + fixtureBranch) },
			[]effectcheck.Rule{"missing", "unexplained"}},
		"a label": {func(s *forgeFixture) {
			s.request(http.MethodPost, "/repos/"+repo+"/labels", map[string]any{"name": "x", "color": "ffffff"}, nil)
			s.request(http.MethodPost, fixtureIssuePath+"/labels", map[string]any{"labels": []string{"x"}}, nil)
		}, []effectcheck.Rule{"label"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newForgeFixture(t)
			c.plant(s)
			contents, err := effectcheck.Read(t.Context(), s.forge.reader(), repo)
			if err != nil {
				t.Fatal(err)
			}
			var got []effectcheck.Rule
			r := effectcheck.Check(s.log, contents, func(string) (*workflow.Definition, bool) { return nil, false })
			for _, v := range r.Violations {
				got = append(got, v.Rule)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v: %v", got, c.want, r.Violations)
			}
			if r.Effects["pulls"] == 0 || r.Effects["pushes"] == 0 || r.Effects["branches"] == 0 {
				t.Errorf("it looked at %v", r.Effects)
			}
		})
	}
}

func (s *forgeFixture) remove(path string) {
	s.request(http.MethodDelete, "/repos/"+repo+path, nil, nil)
}

// replacePull closes the pull request and opens another for the same branch.
func (s *forgeFixture) replacePull() {
	s.request(http.MethodPatch, "/repos/"+repo+"/pulls/2", map[string]any{"state": "closed"}, nil)
	s.request(http.MethodPost, "/repos/"+repo+"/pulls", map[string]any{"title": "Again", "head": fixtureBranch, "base": "main",
		"body": rules.Marker(fixtureInstance, "pull-request")}, nil)
}

func TestClaimsThatOverlapAreFound(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	claim := func(id string, from, to int) logcheck.Interval {
		return logcheck.Interval{Instance: id, Agent: fmt.Sprint("agent ", from), From: at(from), To: at(to)}
	}
	for name, c := range map[string]struct {
		claims []logcheck.Interval
		found  int
	}{
		"one after the other":   {[]logcheck.Interval{claim("a", 0, 2), claim("a", 2, 4), claim("b", 1, 3)}, 0},
		"one begun in another":  {[]logcheck.Interval{claim("a", 1, 4), claim("a", 0, 2)}, 1},
		"one within another":    {[]logcheck.Interval{claim("a", 0, 9), claim("a", 3, 4)}, 1},
		"and all of one moment": {[]logcheck.Interval{claim("a", 0, 1), claim("a", 0, 1), claim("a", 0, 1)}, 2},
	} {
		if found := overlappingClaims(c.claims); len(found) != c.found {
			t.Errorf("%s: found %q, want %d", name, found, c.found)
		}
	}
}
