package change

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

const (
	repo  = `"repository":{"id":7,"full_name":"a/b","default_branch":"trunk"}`
	sha   = "c0ffee"
	queue = "gh-readonly-queue/trunk/pr-3-0123456789"
)

func TestADeliveryIsReadAsTheChangeThatItReports(t *testing.T) {
	item := func(i Item) Change { return Change{Items: []Item{i}} }
	fact := func(f Fact) Change { return Change{Facts: []Fact{f}} }
	run := func(more string) string {
		return `"check_run":{"id":1,"head_sha":"c0ffee","name":"build","completed_at":"2026-01-02T09:00:07+02:00","app":{"slug":"ci"},` + more + `}`
	}
	for name, c := range map[string]struct {
		event, action, body string
		want                Change
	}{
		"an issue":                 {"issues", "opened", `"issue":{"number":1}`, item(Item{Number: 1})},
		"an issue that is gone":    {"issues", "deleted", `"issue":{"number":1}`, item(Item{Number: 1, Gone: true})},
		"an issue that is pinned":  {"issues", "pinned", `"issue":{"number":1}`, Change{}},
		"a comment":                {"issue_comment", "created", `"issue":{"number":1},"comment":{"body":"Yes.","user":{"type":"User"}}`, item(Item{Number: 1})},
		"a comment of nobody":      {"issue_comment", "created", `"issue":{"number":1},"comment":{"user":null}`, item(Item{Number: 1})},
		"a comment with a command": {"issue_comment", "edited", `"issue":{"number":1},"comment":{"body":"/x"}`, Change{Items: []Item{{Number: 1}}, Commands: true}},
		"a bot's comment":          {"issue_comment", "created", `"issue":{"number":1},"comment":{"user":{"type":"Bot"}}`, Change{}},
		"a bot's on a pull request": {"issue_comment", "created", `"issue":{"number":1,"pull_request":{}},"comment":{"user":{"type":"Bot"}}`,
			item(Item{Number: 1, Pull: true})},
		"a pull request":          {"pull_request", "edited", `"pull_request":{"number":3}`, item(Item{Number: 3, Pull: true})},
		"one that is open again":  {"pull_request", "reopened", `"pull_request":{"number":3}`, item(Item{Number: 3, Pull: true, Reopened: true})},
		"a review":                {"pull_request_review", "submitted", `"pull_request":{"number":3}`, item(Item{Number: 3, Pull: true})},
		"a remark of a review":    {"pull_request_review_comment", "created", `"pull_request":{"number":3}`, item(Item{Number: 3, Pull: true})},
		"a conversation":          {"pull_request_review_thread", "resolved", `"pull_request":{"number":3}`, fact(Fact{ID: "delivery d", pulls: []int{3}})},
		"a check that passes":     {"check_run", "completed", run(`"conclusion":"success"`), Change{}},
		"a check of ours":         {"check_run", "completed", `"check_run":{"id":1,"head_sha":"c0ffee","name":"Signalbox gates","conclusion":"failure"}`, Change{}},
		"a check that fails":      {"check_run", "completed", run(`"conclusion":"failure","check_suite":{"head_branch":"fix"}`), fact(Fact{ID: "check_run 1 failure 2026-01-02T09:00:07+02:00", App: "ci", sha: sha, branches: []string{"fix"}})},
		"a check that runs again": {"check_run", "rerequested", run(`"conclusion":"success"`), fact(Fact{ID: "delivery d", sha: sha, branches: []string{""}})},
		"a check of pull requests": {"check_run", "completed", run(`"conclusion":"failure","pull_requests":[{"number":1},{"number":2,"base":{"repo":{"id":8}}},{"number":3,"head":{"sha":"0"}}]`),
			fact(Fact{ID: "check_run 1 failure 2026-01-02T09:00:07+02:00", App: "ci", sha: sha, branches: []string{""}, pulls: []int{1}})},
		"a suite": {"check_suite", "completed", `"check_suite":{"id":5,"head_sha":"c0ffee","head_branch":"` + queue + `","conclusion":"success","app":{"slug":"ci"}}`,
			fact(Fact{ID: "check_suite 5 success ", App: "ci", sha: sha, branches: []string{queue}, pulls: []int{3}})},
		"a run of a workflow": {"workflow_run", "completed", `"workflow_run":{"id":8,"run_attempt":2,"head_sha":"c0ffee","head_branch":"fix","conclusion":"failure"}`,
			fact(Fact{ID: "workflow_run 8 2 failure", sha: sha, branches: []string{"fix"}})},
		"a status":      {"status", "", `"id":9,"sha":"c0ffee","state":"success","branches":[{"name":"fix"}]`, fact(Fact{ID: "status 9", sha: sha, branches: []string{"fix"}})},
		"one that runs": {"status", "", `"id":9,"sha":"c0ffee","state":"pending"`, Change{}},
		"a push": {"push", "", `"ref":"refs/heads/trunk","before":"0","after":"c0ffee","commits":[{"modified":[".signalbox/config.yml"]}]`, Change{Configures: true, Facts: []Fact{
			{Event: "push", sha: sha, branches: []string{"trunk"}}, {Event: "push", ID: "push trunk 0 c0ffee", base: "trunk", sha: sha}}}},
		"a push to a branch": {"push", "", `"ref":"refs/heads/fix","before":"0","after":"c0ffee","commits":[{"modified":[".signalbox/config.yml"]}]`, Change{Facts: []Fact{
			{Event: "push", sha: sha, branches: []string{"fix"}}, {Event: "push", ID: "push fix 0 c0ffee", base: "fix", sha: sha}}}},
		"a push of a tag":              {"push", "", `"ref":"refs/tags/v1","after":"c0ffee"`, Change{}},
		"a merge group":                {"merge_group", "destroyed", `"reason":"invalidated","merge_group":{"head_sha":"c0ffee","head_ref":"refs/heads/` + queue + `"}`, fact(Fact{ID: "merge_group c0ffee destroyed invalidated", branches: []string{"refs/heads/" + queue}, pulls: []int{3}})},
		"a repository that is renamed": {"repository", "renamed", `"changes":{"repository":{"name":{"from":"c"}}}`, Change{Repositories: &Repositories{Names: []string{"a/b"}, Was: "a/c"}}},
		"one that has another owner":   {"repository", "transferred", `"changes":{"owner":{"from":{"organization":{"login":"o"}}}}`, Change{Repositories: &Repositories{Names: []string{"a/b"}, Was: "o/b"}}},
		"an event that does not count": {"package", "published", `"issue":"of another form"`, Change{}},
		"a field of another type":      {"issues", "opened", `"issue":{"number":1},"installation":{"id":"x"}`, item(Item{Number: 1})},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(c.event, "d", fmt.Appendf(nil, `{"action":%q,%s,%s}`, c.action, repo, c.body))
			if err != nil {
				t.Fatal(err)
			}
			c.want.ID, c.want.Event = "d", c.event
			if c.event != "package" {
				c.want.Action, c.want.Repo = c.action, "a/b"
			}
			for n := range c.want.Facts {
				c.want.Facts[n].Event = c.event
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("it is read as\n%+v, want\n%+v", got, c.want)
			}
		})
	}
}

func TestADeliveryThatLacksItsPartIsRefused(t *testing.T) {
	for _, e := range Events() {
		if e.Anywhere {
			continue
		}
		if _, err := Read(e.Name, "d", []byte(`{`+repo+`}`)); !errors.Is(err, ErrForm) {
			t.Errorf("%s without its part: %v", e.Name, err)
		}
	}
	for body, why := range map[string]string{
		`{"issue":{"number":1}}`:                                       "of no repository",
		`{"issue":{"number":1},"repository":{"full_name":"a"}}`:        "of half a name",
		`{"issue":"of another form","repository":{"full_name":"a/b"}}`: "of another form",
		`[]`: "of a list", `{`: "of half an object",
	} {
		if _, err := Read("issues", "d", []byte(body)); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func TestAFactConcernsThePullRequestOfItsCommit(t *testing.T) {
	ours := Head{SHA: sha, Ref: "fix", Base: "trunk"}
	for name, c := range map[string]struct {
		fact           Fact
		head           Head
		known          bool
		concerns, sure bool
	}{
		"by its number":                      {Fact{pulls: []int{3}}, Head{}, false, true, true},
		"not by another number":              {Fact{pulls: []int{4}, sha: sha}, ours, true, false, true},
		"not known before it is read":        {Fact{sha: sha}, Head{}, false, false, false},
		"by its newest commit":               {Fact{sha: sha}, ours, true, true, true},
		"by its base":                        {Fact{base: "trunk", sha: "1"}, ours, true, true, true},
		"not by another base":                {Fact{base: "main", sha: sha}, ours, true, false, true},
		"not by another branch":              {Fact{sha: "1", branches: []string{"x"}}, ours, true, false, true},
		"read again if its branch has moved": {Fact{sha: "1", branches: []string{"fix"}}, ours, true, false, false},
		"not by the branch of a fork":        {Fact{sha: "1", branches: []string{""}}, Head{SHA: sha, Base: "trunk"}, true, false, true},
	} {
		if concerns, sure := c.fact.Concerns(3, c.head, c.known); concerns != c.concerns || sure != c.sure {
			t.Errorf("%s: %v, %v", name, concerns, sure)
		}
	}
}
