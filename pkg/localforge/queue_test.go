package localforge_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// TestAMergeQueueTestsEachOnWhatIsMergedBeforeIt has two pull requests that conflict and
// one that does not in a queue.
func TestAMergeQueueTestsEachOnWhatIsMergedBeforeIt(t *testing.T) {
	w, hook := hooked(t)
	ctx := t.Context()
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	w.ask(t, "POST", "/repos/acme/widgets/rulesets", adaToken, `{"name":"queue","target":"branch","enforcement":"active",
		"conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"],"exclude":[]}},
		"rules":[{"type":"merge_queue","parameters":{"merge_method":"MERGE"}},
			{"type":"required_status_checks","parameters":{"required_status_checks":[{"context":"ci"}]}}]}`)
	report := func(sha, state string) {
		t.Helper()
		_, _, err := rob.Repositories.CreateStatus(ctx, owner, name, sha, &github.RepoStatus{State: &state, Context: github.String("ci")})
		must(t, err)
	}
	group := func(number string) string {
		t.Helper()
		sha, _, _ := strings.Cut(gittest.Run(t, work, "ls-remote", "origin", "refs/heads/gh-readonly-queue/main/pr-"+number), "\t")
		return sha
	}
	enqueue := func(pr *github.PullRequest) string {
		t.Helper()
		_, body := w.ask(t, "POST", "/graphql", robToken, `{"query":"mutation($id: ID!) { enqueuePullRequest(input: {pullRequestId: $id}) { mergeQueueEntry { position } } }","variables":{"id":"`+pr.GetNodeID()+`"}}`)
		return string(body)
	}
	one := w.propose(t, rob, work, "one", "a.txt", "one\n")
	gittest.Run(t, work, "checkout", "-q", "main")
	two := w.propose(t, rob, work, "two", "a.txt", "two\n")
	gittest.Run(t, work, "checkout", "-q", "main")
	three := w.propose(t, rob, work, "three", "c.txt", "three\n")
	_, _, err := rob.PullRequests.Merge(ctx, owner, name, 1, "", nil)
	if status, said := refusal(t, err); status != http.StatusMethodNotAllowed || !strings.Contains(said, "merge queue") {
		t.Errorf("a merge past the queue: %v", err)
	}
	if said := enqueue(one); !strings.Contains(said, `is expected`) {
		t.Errorf("without its check: %s", said)
	}
	for at, pr := range []*github.PullRequest{one, two, three} {
		report(pr.GetHead().GetSHA(), "success")
		if said := enqueue(pr); !strings.Contains(said, `"position":`+string(rune('1'+at))) {
			t.Errorf("the queue says %s", said)
		}
	}
	if said := enqueue(two); !strings.Contains(said, "already in the queue") {
		t.Errorf("a second time: %s", said)
	}
	first := group("1")
	if first == "" || group("2") != "" {
		t.Fatalf("the first is tested at %q, the second at %q", first, group("2"))
	}
	report(first, "pending")
	report(first, "success")
	merged := func(number int) bool {
		t.Helper()
		pr, _, err := rob.PullRequests.Get(ctx, owner, name, number)
		must(t, err)
		return pr.GetMerged()
	}
	if !merged(1) || merged(2) || group("1") != "" || group("2") != "" {
		t.Errorf("merged: %t, %t; left in the queue %q, %q: the second conflicts with the first", merged(1), merged(2), group("1"), group("2"))
	}
	report(group("3"), "failure")
	if merged(3) {
		t.Error("what fails is merged")
	}
	_, body := w.ask(t, "POST", "/graphql", robToken, `{"query":"{ repository(owner: \"acme\", name: \"widgets\") { two: pullRequest(number: 2) { ...out } three: pullRequest(number: 3) { ...out } } } fragment out on PullRequest { isInMergeQueue timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) { nodes { ... on RemovedFromMergeQueueEvent { reason actor { login } } } } }"}`)
	if said := string(body); !strings.Contains(said, "merge conflict") || !strings.Contains(said, "failed checks") || strings.Contains(said, `"isInMergeQueue":true`) {
		t.Errorf("the queue says %s", said)
	}
	head := StoreXPush(t, work, "three", "d.txt", "more\n")
	report(head, "success")
	if said := enqueue(three); !strings.Contains(said, `"position":1`) {
		t.Errorf("put in again: %s", said)
	}
	report(group("3"), "success")
	if !merged(3) {
		t.Error("what passes is not merged")
	}
	var told []string
	for last := ""; last != "3 closed"; {
		d := hook.next(1)[0]
		number, _ := d.body["number"].(float64)
		last = strings.TrimPrefix(fmt.Sprint(number, " ", d.action), "0 ")
		if d.event == "merge_group" || strings.Contains(" enqueued dequeued closed ", " "+d.action+" ") {
			reason, _ := d.body["reason"].(string)
			told = append(told, strings.TrimSpace(last+" "+reason))
		}
	}
	want := []string{"1 enqueued", "checks_requested", "2 enqueued", "3 enqueued", "destroyed merged", "1 dequeued MERGE", "1 closed",
		"2 dequeued MERGE_CONFLICT", "checks_requested", "destroyed dequeued", "3 dequeued CI_FAILURE",
		"3 enqueued", "checks_requested", "destroyed merged", "3 dequeued MERGE", "3 closed"}
	if !slices.Equal(told, want) {
		t.Errorf("webhooks are told of %q, want %q", told, want)
	}
}
