package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/effectcheck"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/logcheck"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// stage is a forge on which one issue was worked, and the log that says so.
type stage struct {
	*testing.T
	forge   *testForge
	bot     git.Runner // its clone
	log     []effectcheck.Entry
	comment int64
}

const (
	onStage      = repo + "/1"
	branchOnIt   = "signalbox/issue-1-the-answer"
	issueOnStage = "/repos/" + repo + "/issues/1"
)

func raise(t *testing.T) *stage {
	t.Helper()
	f, url := hostForge(t, []string{repo}, answers(t))
	f.SetURL(url)
	s := &stage{T: t, forge: visit(t, url), bot: git.New(t.TempDir()).WithToken(url, botToken).WithIdentity("bot", "bot@example.com")}
	s.forge.open(t, "The answer", complete)
	s.git("clone", "-q", url+"/"+repo+".git", ".")
	base := s.git("rev-parse", "HEAD")
	s.git("checkout", "-q", "-b", branchOnIt)
	head := s.push("worked")
	var pr struct{ Number int }
	s.do(http.MethodPost, "/repos/"+repo+"/pulls", map[string]any{"title": "Answer", "head": branchOnIt, "base": "main", "body": "So.\n\n" + rules.Marker(onStage, "pull-request")}, &pr)
	c := s.say(onStage, "pull-request")
	s.comment = c.ID
	r := instance.Result{Status: instance.Success, Data: map[string]string{
		"comment_url": c.URL, "pr_url": url, "pr_number": fmt.Sprint(pr.Number), "branch": branchOnIt, "pushed": head,
	}}
	issue := instance.Issue{Repo: repo, Number: 1, Author: "ann"}
	for i, events := range [][]instance.Event{
		{instance.Opened{Workflow: "issue", State: "implementing", Kind: workflow.Work, Issue: issue, Base: base}},
		{instance.Claimed{Role: "developer"}},
		{instance.Reported{Role: "developer", State: "implementing", Result: instance.Result{Head: head}}, instance.Moved{To: "creating_pr", Kind: workflow.Work}},
		{instance.Claimed{Role: "pm"}},
		{instance.Reported{Role: "pm", State: "creating_pr", Result: r}, instance.Moved{To: "completed", Kind: workflow.Final}},
	} {
		s.log = append(s.log, effectcheck.Entry{Instance: onStage, Commit: instance.Commit{Seq: uint64(i + 1), Events: events}})
	}
	return s
}

func (s *stage) git(args ...string) string {
	s.Helper()
	out, err := s.bot.Run(s.Context(), args...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// push commits something and pushes it.
func (s *stage) push(what string, how ...string) string {
	s.Helper()
	s.git("commit", "-q", "--allow-empty", "-m", what)
	s.git(append([]string{"push", "-q", "origin", "HEAD"}, how...)...)
	return s.git("rev-parse", "HEAD")
}

// do is a request of the bot's.
func (s *stage) do(method, path string, body, into any) {
	s.Helper()
	if err := s.forge.do(s.Context(), botToken, method, path, body, into); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) say(of, key string) forge.Comment {
	s.Helper()
	var c struct {
		ID  int64
		URL string `json:"html_url"`
	}
	s.do(http.MethodPost, issueOnStage+"/comments", map[string]any{"body": "So.\n\n" + rules.Marker(of, key)}, &c)
	return forge.Comment{ID: c.ID, URL: c.URL}
}

// What is planted on a real forge is found, by reading it.
func TestTheCheckerFindsWhatIsPlantedOnAForge(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(s *stage)
		want  []effectcheck.Rule
	}{
		"nothing":           {func(*stage) {}, nil},
		"a doubled comment": {func(s *stage) { s.say(onStage, "pull-request") }, []effectcheck.Rule{"doubled"}},
		"one far behind it": {func(s *stage) {
			for range 120 { // more than a page
				if _, err := s.forge.ann.Comment(s.Context(), repo, 1, "Hm."); err != nil {
					s.Fatal(err)
				}
			}
			s.say(onStage, "pull-request")
		}, []effectcheck.Rule{"doubled"}},
		"a missing comment":           {func(s *stage) { s.remove(fmt.Sprint("/issues/comments/", s.comment)) }, []effectcheck.Rule{"missing"}},
		"a foreign marker":            {func(s *stage) { s.say("acme/other/7", "pull-request") }, []effectcheck.Rule{"foreign"}},
		"a comment nobody intended":   {func(s *stage) { s.say(onStage, "questions-1") }, []effectcheck.Rule{"unexplained"}},
		"a second pull request":       {(*stage).again, []effectcheck.Rule{"doubled"}},
		"a merge without its record":  {func(s *stage) { s.do(http.MethodPut, "/repos/"+repo+"/pulls/2/merge", nil, nil) }, []effectcheck.Rule{"merge"}},
		"a branch with another head":  {func(s *stage) { s.push("more") }, []effectcheck.Rule{"head", "head"}},
		"a commit that was lost":      {func(s *stage) { s.git("reset", "-q", "--hard", "HEAD~"); s.push("instead", "--force") }, []effectcheck.Rule{"head", "lost", "unexplained"}},
		"a branch nobody intended":    {func(s *stage) { s.git("push", "-q", "origin", "HEAD:refs/heads/x") }, []effectcheck.Rule{"unexplained"}},
		"a branch that was taken off": {func(s *stage) { s.remove("/git/refs/heads/" + branchOnIt) }, []effectcheck.Rule{"missing", "unexplained"}},
		"a label": {func(s *stage) {
			s.do(http.MethodPost, "/repos/"+repo+"/labels", map[string]any{"name": "x", "color": "ffffff"}, nil)
			s.do(http.MethodPost, issueOnStage+"/labels", map[string]any{"labels": []string{"x"}}, nil)
		}, []effectcheck.Rule{"label"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := raise(t)
			c.plant(s)
			world, err := effectcheck.Read(t.Context(), s.forge.reader(), repo)
			if err != nil {
				t.Fatal(err)
			}
			var got []effectcheck.Rule
			r := effectcheck.Check(s.log, world, func(string) (*workflow.Definition, bool) { return nil, false })
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

func (s *stage) remove(path string) { s.do(http.MethodDelete, "/repos/"+repo+path, nil, nil) }

// again closes the pull request and opens another one for the same branch.
func (s *stage) again() {
	s.do(http.MethodPatch, "/repos/"+repo+"/pulls/2", map[string]any{"state": "closed"}, nil)
	s.do(http.MethodPost, "/repos/"+repo+"/pulls", map[string]any{"title": "Again", "head": branchOnIt, "base": "main", "body": rules.Marker(onStage, "pull-request")}, nil)
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
		if found := overlapping(c.claims); len(found) != c.found {
			t.Errorf("%s: found %q, want %d", name, found, c.found)
		}
	}
}
