package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// object is a part of a delivery.
type object = map[string]any

// of returns the delivery of an event in the repository, with the shape of GitHub's.
func of(action string, more object) object {
	o := object{"repository": object{"id": 7, "full_name": widgets}, "sender": object{"login": "ann", "type": "User"}}
	if action != "" {
		o["action"] = action
	}
	maps.Copy(o, more)
	return o
}

// scene is an issue, and a story with a pull request, that a gateway hears of.
type scene struct {
	hook
	gateway repository
	issue   int
	pull    int
	story   string
	pr      forge.PullRequest
	asked   atomic.Int64 // requests of the forge
	missing atomic.Int64 // the issue that the forge does not have
}

func newScene(t *testing.T) *scene {
	e := newEnv(t)
	p := e.poller(func(p *poller) { p.intake.Hold = "signalbox:hold" })
	w := e.watched(p)
	w.pulls.now, w.closed.now = e.now, e.now
	s := &scene{hook: e.hook(w), gateway: w}
	s.pull, s.story = e.propose("first")
	s.reread()
	e.forge.Fail(func(r *http.Request) *localforge.Fault {
		s.asked.Add(1)
		if n := s.missing.Load(); n > 0 && strings.Contains(r.URL.Path+"/", fmt.Sprintf("/issues/%d/", n)) {
			return &localforge.Fault{Status: http.StatusGone}
		}
		return nil
	})
	return s
}

func (s *scene) reread() {
	s.Helper()
	var err error
	if s.pr, err = s.ann.PullRequest(s.ctx, widgets, s.pull); err != nil {
		s.Fatal(err)
	}
}

// poll polls all of the repository.
func (r repository) poll(ctx context.Context) error {
	err := errors.Join(r.issues.poll(ctx), r.closed.poll(ctx), r.pulls.poll(ctx))
	if r.obeys != nil && r.obeys.grammar.Name != "" {
		err = errors.Join(err, r.obeys.poll(ctx))
	}
	return err
}

// polls polls everything, as the gateway does.
func (s *scene) polls() {
	s.Helper()
	if err := s.gateway.poll(s.ctx); err != nil {
		s.Fatal(err)
	}
}

// remarks changes the pull request, as every action on it does.
func (s *scene) remarks() {
	s.second.Add(1)
	s.say(s.ann, s.pull, fmt.Sprint("at second ", s.second.Load()))
}

func (s *scene) pullEvent(action string) object {
	return of(action, object{"number": s.pull, "pull_request": object{"number": s.pull, "updated_at": "2026-01-02T09:00:00Z"}})
}

// commented is a delivery of a comment by ann.
func (s *scene) commented(action string, number int, c forge.Comment) object {
	return of(action, object{"issue": object{"number": number}, "comment": object{"id": c.ID, "created_at": c.CreatedAt, "body": c.Body,
		"user": object{"login": "ann", "type": "User"}}})
}

// check is a check run, of a commit; GitHub names no pull request of a fork's.
func (s *scene) check(action, conclusion string, more object) object {
	run := object{"id": 4, "name": "build", "head_sha": s.pr.HeadSHA, "status": "completed", "conclusion": conclusion,
		"completed_at": "2026-01-02T09:00:07Z", "app": object{"slug": "ci"}, "pull_requests": []any{},
		"check_suite": object{"id": 5, "head_branch": "first"}}
	maps.Copy(run, more)
	return of(action, object{"check_run": run})
}

func (s *scene) suite(action string, more object) object {
	suite := object{"id": 5, "head_sha": s.pr.HeadSHA, "head_branch": "first", "status": "completed", "conclusion": "success",
		"updated_at": "2026-01-02T09:00:08Z", "app": object{"slug": "ci"}, "pull_requests": []any{}}
	maps.Copy(suite, more)
	return of(action, object{"check_suite": suite})
}

func (s *scene) pushed(ref, before, after string) object {
	return of("", object{"ref": ref, "before": before, "after": after, "deleted": after == strings.Repeat("0", 40), "head_commit": object{"id": after}})
}

func (s *scene) status(id int, sha, state string, branches ...string) object {
	on := []any{}
	for _, b := range branches {
		on = append(on, object{"name": b, "commit": object{"sha": sha}})
	}
	return of("", object{"id": id, "sha": sha, "name": widgets, "context": "ci/old", "state": state, "branches": on})
}

func (s *scene) group(action, reason string) object {
	o := of(action, object{"merge_group": object{"head_sha": strings.Repeat("e", 40), "base_ref": "refs/heads/trunk",
		"head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/trunk/pr-%d-%s", s.pull, strings.Repeat("a", 40))}})
	if reason != "" {
		o["reason"] = reason
	}
	return o
}

func (s *scene) instance() string {
	s.Helper()
	in, err := s.client.Get(s.ctx, Name(widgets, s.issue))
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(fmt.Sprint(in.GetClosed(), " paused ", in.GetPaused())), " ")
}

// happening is a delivery, what happened before it on the forge, and what it leads to.
type happening struct {
	event, action string
	made          func(s *scene) object
	signals       int                 // that the story gets
	became        func(*scene) string // of the issue
	want          string
}

// happens are deliveries of all that is heard, in an order in which they can happen.
func happens() []happening {
	same := (*scene).instance
	heard := func(s *scene) string { return strings.Join(s.heard(s.issue), "; ") }
	said := func(s *scene) string { return s.heard(s.issue)[len(s.heard(s.issue))-1] }
	all := []happening{
		{"issues", "opened", func(s *scene) object {
			s.issue = s.report(s.ann, "The sum is wrong")
			return issueEvent("opened", s.issue)
		}, 0, same, "paused false"},
		{"issues", "labeled", func(s *scene) object {
			s.second.Add(1)
			s.label(s.issue, "signalbox:hold", true)
			return issueEvent("labeled", s.issue)
		}, 0, same, "paused true"},
		{"issues", "unlabeled", func(s *scene) object {
			s.second.Add(1)
			s.label(s.issue, "signalbox:hold", false)
			return issueEvent("unlabeled", s.issue)
		}, 0, same, "paused false"},
		{"issues", "edited", func(s *scene) object {
			s.edits(s.issue, "It says 5.")
			return issueEvent("edited", s.issue)
		}, 0, heard, "ann: The issue was edited. It now reads:\n\nThe sum is wrong\n\nIt says 5."},
		{"issues", "unlocked", func(s *scene) object {
			s.second.Add(1)
			why := fmt.Sprintf("5 infrastructure faults in received, the last: github: comment on %s#%d: the forge denies it: "+
				"403 Unable to create comment because issue is locked.", widgets, s.issue)
			if _, err := s.client.Pause(s.ctx, Name(widgets, s.issue), why); err != nil {
				s.Fatal(err)
			}
			s.request(http.MethodDelete, fmt.Sprintf("/issues/%d/lock", s.issue), "")
			return issueEvent("unlocked", s.issue)
		}, 0, same, "paused false"},
		{"issue_comment", "created", func(s *scene) object {
			return s.commented("created", s.issue, s.say(s.ann, s.issue, "So do I."))
		}, 0, said, "ann: So do I."},
		{"issue_comment", "edited", func(s *scene) object {
			return s.commented("edited", s.issue, forge.Comment{ID: 1, CreatedAt: s.now()})
		}, 0, said, "ann: So do I."},
		{"issue_comment", "deleted", func(s *scene) object {
			return s.commented("deleted", s.issue, forge.Comment{ID: 1, CreatedAt: s.now()})
		}, 0, said, "ann: So do I."},
		{"issues", "closed", func(s *scene) object {
			s.close(s.issue)
			return issueEvent("closed", s.issue)
		}, 0, same, "cancelled paused false"},
		{"issues", "reopened", func(s *scene) object {
			s.second.Add(1)
			s.request(http.MethodPatch, fmt.Sprintf("/issues/%d", s.issue), `{"state": "open"}`)
			return issueEvent("reopened", s.issue)
		}, 0, same, "paused false"},
	}
	for _, action := range []string{"transferred", "deleted"} {
		all = append(all, happening{"issues", action, func(s *scene) object {
			s.issue = s.report(s.ann, "The product is wrong")
			s.polls()
			s.missing.Store(int64(s.issue))
			return issueEvent(action, s.issue)
		}, 0, same, "cancelled paused false"})
	}
	change := func(event string, actions ...string) {
		for _, action := range actions {
			all = append(all, happening{event, action, func(s *scene) object { s.remarks(); return s.pullEvent(action) }, 1, nil, ""})
		}
	}
	change("pull_request", "opened", "edited", "synchronize", "ready_for_review", "converted_to_draft", "labeled", "unlabeled",
		"review_requested", "review_request_removed", "auto_merge_enabled", "auto_merge_disabled", "enqueued", "dequeued", "closed", "reopened")
	change("pull_request_review", "submitted", "edited", "dismissed")
	change("pull_request_review_comment", "created", "edited", "deleted")
	return append(all,
		happening{"pull_request_review_thread", "resolved", func(s *scene) object { return s.pullEvent("resolved") }, 1, nil, ""},
		happening{"pull_request_review_thread", "unresolved", func(s *scene) object { return s.pullEvent("unresolved") }, 1, nil, ""},
		happening{"check_run", "completed", func(s *scene) object { return s.check("completed", "failure", nil) }, 1, nil, ""},
		happening{"check_run", "rerequested", func(s *scene) object {
			return s.check("rerequested", "neutral", object{"id": 6, "name": "Signalbox gates"})
		}, 1, nil, ""},
		happening{"check_suite", "completed", func(s *scene) object { return s.suite("completed", nil) }, 1, nil, ""},
		happening{"check_suite", "rerequested", func(s *scene) object { return s.suite("rerequested", object{"app": object{"slug": "signalbox"}}) }, 1, nil, ""},
		happening{"workflow_run", "completed", func(s *scene) object {
			return of("completed", object{"workflow_run": object{"id": 8, "name": "CI", "run_attempt": 1, "head_sha": s.pr.HeadSHA,
				"head_branch": "first", "conclusion": "success", "pull_requests": nil}})
		}, 1, nil, ""},
		happening{"status", "", func(s *scene) object { return s.status(9, s.pr.HeadSHA, "success", "first") }, 1, nil, ""},
		happening{"push", "", func(s *scene) object {
			return s.pushed("refs/heads/trunk", strings.Repeat("b", 40), strings.Repeat("c", 40))
		}, 1, nil, ""},
		happening{"merge_group", "checks_requested", func(s *scene) object { return s.group("checks_requested", "") }, 1, nil, ""},
		happening{"merge_group", "destroyed", func(s *scene) object { return s.group("destroyed", "invalidated") }, 1, nil, ""},
	)
}

func TestEachFactIsOneSignalHoweverOftenAndByWhicheverWayItComes(t *testing.T) {
	s := newScene(t)
	s.polls()
	for n, c := range happens() {
		t.Run(strings.TrimSpace(c.event+" "+c.action), func(t *testing.T) {
			before := len(s.signals(s.story))
			id := fmt.Sprint("fact-", n)
			s.deliver(c.event, id, c.made(s))
			s.settle()
			check := func(by string) {
				t.Helper()
				if got := len(s.signals(s.story)) - before; got != c.signals {
					t.Errorf("%s the story has %d signals of it, want %d", by, got, c.signals)
				}
				if c.became != nil && c.became(s) != c.want {
					t.Errorf("%s the issue is %q, want %q", by, c.became(s), c.want)
				}
			}
			check("delivered")
			if again, err := s.again(s.ctx, id); err != nil || again.Result != "done" {
				t.Errorf("delivered again: %+v, %v", again, err)
			}
			check("delivered again")
			s.missing.Store(0) // the lists of a forge have it no more
			s.polls()
			check("polled, too,")
		})
	}
}

func TestThePageOfEventsSaysWhatIsHeard(t *testing.T) {
	page, err := os.ReadFile("../../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- heard -->\n")
	table, _, _ := strings.Cut(rest, "<!-- end -->")
	name := regexp.MustCompile("`([a-z_]+)`")
	var written, heard, tried []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || !strings.Contains(cells[1], "`") {
			continue
		}
		if len(cells) != 9 {
			t.Fatalf("a row has %d cells: %s", len(cells)-2, line)
		}
		event := name.FindStringSubmatch(cells[1])[1]
		actions := name.FindAllStringSubmatch(cells[2], -1)
		if len(actions) == 0 {
			actions = [][]string{{"", ""}}
		}
		for _, a := range actions {
			written = append(written, event+" "+a[1])
		}
	}
	for _, h := range change.Events() {
		if len(h.Actions) == 0 {
			heard = append(heard, h.Name+" ")
		}
		for _, a := range h.Actions {
			heard = append(heard, h.Name+" "+a)
		}
	}
	for _, c := range happens() {
		tried = append(tried, c.event+" "+c.action)
	}
	for _, c := range sets() {
		tried = append(tried, c.event+" "+c.action)
	}
	for _, all := range [][]string{written, heard, tried} {
		slices.Sort(all)
	}
	if diff := cmp.Diff(heard, written); diff != "" {
		t.Errorf("docs/events.md lacks (-) or has in addition (+) rows:\n%s", diff)
	}
	if diff := cmp.Diff(heard, tried); diff != "" {
		t.Errorf("happens lacks (-) or has in addition (+) cases:\n%s", diff)
	}
}

// unheard are deliveries that lead to nothing.
func (s *scene) unheard() map[string]object {
	none := strings.Repeat("0", 40)
	return map[string]object{
		"issues milestoned": issueEvent("milestoned", 1), "issues assigned": issueEvent("assigned", 1), "issues pinned": issueEvent("pinned", 1),
		"pull_request assigned": s.pullEvent("assigned"), "pull_request milestoned": s.pullEvent("milestoned"),
		"check_run created":                                s.check("created", "", nil),
		"check_run completed of ours":                      s.check("completed", "success", object{"name": "Signalbox gates"}),
		"check_run failed of ours":                         s.check("completed", "failure", object{"name": "Signalbox configuration"}),
		"check_run completed, as wanted":                   s.check("completed", "success", nil),
		"check_suite requested":                            s.suite("requested", nil),
		"check_suite completed elsewhere":                  s.suite("completed", object{"head_sha": none, "head_branch": "other"}),
		"status pending":                                   s.status(20, s.pr.HeadSHA, "pending", "first"),
		"status of another commit":                         s.status(21, none, "failure", "other"),
		"push of a tag":                                    s.pushed("refs/tags/v1", none, s.pr.HeadSHA),
		"push to a branch of nobody's":                     s.pushed("refs/heads/other", none, strings.Repeat("d", 40)),
		"push that deletes":                                s.pushed("refs/heads/trunk", strings.Repeat("d", 40), none),
		"push of a merge queue":                            s.pushed("refs/heads/gh-readonly-queue/trunk/pr-99-"+strings.Repeat("a", 40), none, strings.Repeat("d", 40)),
		"pull_request labeled, of nobody's":                of("labeled", object{"pull_request": object{"number": 99}}),
		"pull_request_review_thread resolved, of nobody's": of("resolved", object{"pull_request": object{"number": 99}}),
		"check_run completed, of a parent's": s.check("completed", "failure", object{"head_sha": none,
			"check_suite": object{"head_branch": "other"}, "pull_requests": []any{object{"number": s.pull, "base": object{"repo": object{"id": 8}}}}}),
		"star created": of("created", nil), "workflow_job completed": of("completed", object{"workflow_job": object{"id": 1}}),
		"package published": of("published", object{"issue": "of another form"}),
	}
}

func TestWhatNobodyListensToCostsNoRequest(t *testing.T) {
	s := newScene(t)
	s.polls() // knows the pull request
	before := s.signals(s.story)
	s.asked.Store(0)
	for name, body := range s.unheard() {
		event, _, _ := strings.Cut(name, " ")
		s.deliver(event, strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(name), body)
		s.settle()
		if n := s.asked.Swap(0); n > 0 {
			t.Errorf("%s costs %d requests", name, n)
		}
	}
	if after := s.signals(s.story); len(after) != len(before) {
		t.Errorf("the story has the signals %q more", after[len(before):])
	}
}

func TestFactsCostNoRequestWhereNoPullRequestIsTracked(t *testing.T) {
	s := newScene(t)
	if _, err := s.client.Cancel(s.ctx, s.story, "nobody listens any more"); err != nil {
		t.Fatal(err)
	}
	s.asked.Store(0)
	tried := 0
	for n, c := range happens() {
		if strings.HasPrefix(c.event, "issue") || c.signals == 0 {
			continue
		}
		body := c.made(s)
		s.asked.Store(0)
		s.deliver(c.event, fmt.Sprint("fact-", n), body)
		s.settle()
		if n := s.asked.Load(); n > 0 {
			t.Errorf("%s %s costs %d requests", c.event, c.action, n)
		}
		tried++
	}
	if tried < 20 {
		t.Errorf("%d are tried", tried)
	}
}

func TestAPullRequestIsReadOnceForTheFactsOfItsCommits(t *testing.T) {
	s := newScene(t)
	before := len(s.signals(s.story)) // a gateway that has just started
	s.asked.Store(0)
	for n := range 5 {
		s.deliver("check_suite", fmt.Sprint("suite-", n), s.suite("completed", object{"id": 100 + n}))
		s.deliver("status", fmt.Sprint("status-", n), s.status(200+n, s.pr.HeadSHA, "failure"))
	}
	s.settle()
	// It is read, which is one change, and the client asks once who it is.
	if got, asked := len(s.signals(s.story))-before, s.asked.Load(); got != 11 || asked != 2 {
		t.Errorf("%d signals by %d requests, want 11 by 2", got, asked)
	}
}

func TestACheckOfACommitThatIsNoLongerTheNewestIsNoSignal(t *testing.T) {
	s := newScene(t)
	s.polls()
	before := len(s.signals(s.story))
	s.deliver("check_suite", "late", s.suite("completed", object{"head_sha": strings.Repeat("d", 40)}))
	s.settle()
	if got := len(s.signals(s.story)); got != before {
		t.Errorf("%d signals more", got-before)
	}
}

// as is a forge that says another account is ours.
type as struct {
	*github.Client
	login string
}

func (a as) Self(context.Context) (string, error) { return a.login, nil }

func TestWhatOurOwnCheckBecameIsNoSignal(t *testing.T) {
	for self, want := range map[string]int{"robot": 0, "other": 1} {
		s := newScene(t)
		s.gateway.pulls.forge = as{s.forge.Client("signalbox"), self + "[bot]"}
		s.polls()
		before := len(s.signals(s.story))
		s.deliver("check_suite", "own", s.suite("completed", object{"app": object{"slug": "robot"}}))
		s.settle()
		if got := len(s.signals(s.story)) - before; got != want {
			t.Errorf("of %s there are %d signals, want %d", self, got, want)
		}
	}
}

func TestACheckThatRunsAgainIsAnotherSignal(t *testing.T) {
	s := newScene(t)
	s.polls()
	before := len(s.signals(s.story))
	for n, at := range []string{"2026-01-02T09:00:08Z", "2026-01-02T09:05:00Z"} {
		s.deliver("check_suite", fmt.Sprint("suite-", n), s.suite("completed", object{"updated_at": at}))
		s.deliver("check_suite", fmt.Sprint("of-another-hook-", n), s.suite("completed", object{"updated_at": at}))
	}
	s.settle()
	if got := len(s.signals(s.story)) - before; got != 2 {
		t.Errorf("%d signals, want one of each run", got)
	}
}

func TestAPushToTheBranchOfAPullRequestIsTheChangeThatAPollFinds(t *testing.T) {
	s := newScene(t)
	s.polls()
	before := len(s.signals(s.story))
	was := s.pr.HeadSHA
	s.second.Add(1)
	s.pushes("first")
	s.reread()
	s.deliver("push", "push", s.pushed("refs/heads/first", was, s.pr.HeadSHA))
	s.settle()
	s.polls()
	if got := len(s.signals(s.story)) - before; got != 1 {
		t.Errorf("%d signals, want 1", got)
	}
	s.deliver("check_suite", "suite", s.suite("completed", nil)) // of the new commit
	s.settle()
	if got := len(s.signals(s.story)) - before; got != 2 {
		t.Errorf("%d signals, want 2", got)
	}
}

func TestAStoryGoesOnAtOnceWhenAWebhookTellsThatItsPullRequestIsOpenAgain(t *testing.T) {
	s := newScene(t)
	s.finds(s.story, "closed")
	s.turns(s.pull, "closed")
	s.deliver("pull_request", "closed", s.pullEvent("closed"))
	s.settle()
	if got := s.state(s.story); got != "invalidended" {
		t.Fatalf("it is in %s", got)
	}
	s.turns(s.pull, "open")
	s.deliver("pull_request", "reopened", s.pullEvent("reopened"))
	s.settle()
	if got := s.state(s.story); got != "pushed" {
		t.Errorf("it is in %s", got)
	}
}

func TestTheAppSubscribesToWhatIsHeard(t *testing.T) {
	for _, h := range change.Events() {
		// Those of installations come anyway; a run of a workflow is a check suite, too.
		if h.Anywhere && h.Name != "repository" || h.Name == "workflow_run" {
			continue
		}
		if !slices.Contains(github.Events(), h.Name) {
			t.Errorf("Events in pkg/forge/github/permission.go does not have %s, which the gateway handles", h.Name)
		}
	}
	for _, event := range github.Events() {
		if !slices.ContainsFunc(change.Events(), func(h change.Event) bool { return h.Name == event }) {
			t.Errorf("%s is subscribed to, and not heard", event)
		}
	}
}

// sets are deliveries about the set of repositories.
func sets() []happening {
	var all []happening
	whole := func(more object) func(*scene) object {
		return func(*scene) object {
			o := object{"installation": object{"id": 3}}
			maps.Copy(o, more)
			return o
		}
	}
	for _, action := range []string{"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"} {
		all = append(all, happening{event: "installation", action: action, made: whole(object{"repositories": []any{object{"id": 7, "full_name": widgets}}})})
	}
	return append(all,
		happening{event: "installation_repositories", action: "added", made: whole(object{"repositories_added": []any{object{"full_name": widgets}}})},
		happening{event: "installation_repositories", action: "removed", made: whole(object{"repositories_removed": []any{object{"full_name": widgets}}})},
		happening{event: "repository", action: "renamed", made: func(*scene) object {
			return of("", object{"repository": object{"full_name": "acme/gadgets"}, "changes": object{"repository": object{"name": object{"from": "widgets"}}}})
		}},
		happening{event: "repository", action: "transferred", made: func(*scene) object {
			return of("", object{"repository": object{"full_name": "corp/widgets"}, "changes": object{"owner": object{"from": object{"organization": object{"login": "Acme"}}}}})
		}},
		happening{event: "repository", action: "archived", made: func(*scene) object { return of("", nil) }},
		happening{event: "repository", action: "unarchived", made: func(*scene) object { return of("", nil) }},
		happening{event: "repository", action: "deleted", made: func(*scene) object { return of("", nil) }},
	)
}

func TestWhichRepositoriesThereAreIsAskedWhenAWebhookTellsOfAChange(t *testing.T) {
	s := newScene(t)
	wants := func(what string, want int) {
		t.Helper()
		s.settle()
		if n := len(s.deliveries.watched.asked); n != want {
			t.Errorf("%s: it is asked %d times, want %d", what, n, want)
		}
		for range len(s.deliveries.watched.asked) {
			<-s.deliveries.watched.asked
		}
	}
	for n, c := range sets() {
		body := c.made(s)
		body["action"] = c.action
		s.deliver(c.event, fmt.Sprint("set-", n), body)
		wants(c.event+" "+c.action, 1)
	}
	// One that nobody watched is how a new one comes.
	s.deliver("installation_repositories", "new", object{"action": "added", "repositories_added": []any{object{"full_name": "acme/other"}}})
	wants("a new one", 1)
	s.deliver("issues", "an-issue", of("opened", object{"issue": object{"number": 1}}))
	wants("an issue", 0)
}
