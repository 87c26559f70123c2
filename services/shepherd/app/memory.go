package app

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// request is a job with readers of its variables, its policy and its evidence.
type request struct{ agent.Job }

// number returns a variable that is a number, else 0.
func (r request) number(name string) int {
	n, _ := strconv.Atoi(r.Vars[name])
	return n
}

// text returns a value of the policy.
func (r request) text(name string) string {
	if s, ok := r.Policy[name].(string); ok {
		return s
	}
	return ""
}

// words returns a value of the policy that is a list, separated by spaces or commas.
func (r request) words(name string) []string {
	return strings.FieldsFunc(r.text(name), func(c rune) bool { return c == ' ' || c == ',' })
}

// yes reports whether a value of the policy is true.
func (r request) yes(name string) bool { return r.text(name) == "true" }

// evidence returns the newest evidence of a name.
func (r request) evidence(name string) (ev instance.Evidence, ok bool) {
	for _, e := range r.Evidence {
		if e.Name == name {
			ev, ok = e, true
		}
	}
	return ev, ok
}

// accepted returns the newest run of the acceptance criteria, and whether all passed on
// the commit.
func (r request) accepted(commit string) (instance.Evidence, bool) {
	ev, ok := r.evidence(testrun.Acceptance)
	return ev, ok && ev.OK && ev.Commit == commit
}

// seen returns the keys of the handled remarks, nil if they were never recorded. Then the
// times of remarks and pushes decide.
func (r request) seen() []string {
	var keys []string
	if json.Unmarshal([]byte(r.Vars["seen"]), &keys) != nil {
		return nil
	}
	return keys
}

// owed returns the replies that earlier visits could not post.
func (r request) owed() (owed []owedReply) {
	if json.Unmarshal([]byte(r.Vars["owed"]), &owed) != nil {
		return nil
	}
	return owed
}

// listed encodes a list for a variable. An empty list is not nil.
func listed(keys []string) string {
	out, err := json.Marshal(append([]string{}, keys...))
	if err != nil {
		return "[]" // unreachable: texts can always be encoded
	}
	return string(out)
}

// marker returns the marker of the story's own pull request.
func (r request) marker() string { return rules.Marker(r.Instance, "pull-request") }

// pullRequest returns the text of the pull request: its tests are the acceptance criteria.
func (r request) pullRequest() rules.PullRequest {
	a := r.Assignment
	a.Questions = slices.DeleteFunc(slices.Clone(a.Questions), func(q instance.Question) bool { return q.To != "" })
	ev, _ := r.accepted(r.Head)
	ev.Name, ev.Passed = testrun.Name, 0 // which counts criteria, not tests
	a.Evidence = []instance.Evidence{ev}
	return rules.PullRequest{Assignment: a}
}

// branch returns the name of the story's branch: that of the plan, else Branch.
func (r request) branch() string {
	return cmp.Or(r.Vars["branch"], Branch(r.Issue.Repo, r.Instance))
}

// Branch returns the name of the branch of a story, such as signalbox/story-us-001.
func Branch(repo, story string) string {
	name := strings.TrimPrefix(story, repo+"/")
	slug := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return "signalbox/story-" + strings.Join(slug, "-")
}
