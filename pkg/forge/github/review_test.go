package github_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
)

func TestReviewsAreAllReadOldestFirst(t *testing.T) {
	w := newEnv(t)
	pr := w.propose(t, forge.NewPullRequest{})
	reader := forge.Reviews(w.client(t, "rob-token"))
	const count = 130
	for n := range count {
		w.rest(t, "ada-token", "POST", "/pulls/1/reviews", fmt.Sprintf(`{"event":"COMMENT","body":"%d"}`, n))
	}
	w.rest(t, "max-token", "POST", "/pulls/1/reviews", `{"event":"APPROVE"}`)
	reviews, err := reader.Reviews(t.Context(), repo, 1)
	must(t, err)
	if len(reviews) != count+1 || reviews[0].Body != "0" || reviews[count-1].Body != fmt.Sprint(count-1) {
		t.Fatalf("%d reviews", len(reviews))
	}
	last := reviews[count]
	if last.State != "APPROVED" || last.Author.Login != "max" || last.Author.ID == 0 || last.Commit != pr.HeadSHA || last.At.IsZero() || !strings.HasPrefix(last.URL, w.url) {
		t.Errorf("review = %+v", last)
	}
	w.rest(t, "ada-token", "PUT", fmt.Sprintf("/pulls/1/reviews/%d/dismissals", last.ID), `{"message":"Too soon."}`)
	reviews, err = reader.Reviews(t.Context(), repo, 1)
	must(t, err)
	if reviews[count].State != "DISMISSED" {
		t.Errorf("dismissed = %+v", reviews[count])
	}
}

func TestConversationsAreReadWithWhetherTheyAreResolved(t *testing.T) {
	w := newEnv(t)
	rob := w.client(t, "rob-token")
	w.push(t, "rob-token", "fix/it", "a.txt", "one\ntwo\n")
	w.propose(t, forge.NewPullRequest{})
	const count = 103
	for n := range count {
		w.rest(t, "ada-token", "POST", "/pulls/1/comments", fmt.Sprintf(`{"body":"%d","path":"a.txt","line":%d}`, n, 1+n%2))
	}
	comments, err := rob.ReviewComments(t.Context(), repo, 1)
	must(t, err)
	if len(comments) != count || comments[0].Body != "0" || comments[1].Line != 2 || comments[0].Path != "a.txt" || comments[0].Review == 0 || comments[0].Commit == "" {
		t.Fatalf("%d comments, the first %+v", len(comments), comments[0])
	}
	w.rest(t, "rob-token", "POST", fmt.Sprintf("/pulls/1/comments/%d/replies", comments[0].ID), `{"body":"Done."}`)
	state, err := rob.ReviewState(t.Context(), repo, 1)
	must(t, err)
	if state.Decision != "" || !slices.Equal(state.Methods, []string{"merge", "squash", "rebase"}) || len(state.Threads) != count {
		t.Fatalf("decision %q, methods %v, %d threads", state.Decision, state.Methods, len(state.Threads))
	}
	first := state.Threads[0]
	if first.Resolved || first.Outdated || first.Line != 1 || len(first.Comments) != 2 || first.Comments[0] != comments[0].ID {
		t.Errorf("thread = %+v", first)
	}
	w.send(t, "rob-token", "POST", "/api/graphql", fmt.Sprintf(`{"query":"mutation{resolveReviewThread(input:{threadId:\"%s\"}){thread{id}}}"}`, first.ID))
	w.push(t, "rob-token", "fix/it", "a.txt", "1\ntwo\n")
	state, err = rob.ReviewState(t.Context(), repo, 1)
	must(t, err)
	if t0, t1 := state.Threads[0], state.Threads[1]; !t0.Resolved || !t0.Outdated || t0.Line != 0 || t1.Resolved || t1.Outdated || t1.Line != 2 {
		t.Errorf("threads = %+v, %+v", t0, t1)
	}
}

func TestDecisionIsTheForges(t *testing.T) {
	w := newEnv(t)
	rob := w.client(t, "rob-token")
	w.propose(t, forge.NewPullRequest{})
	w.rest(t, "ada-token", "PUT", "/branches/main/protection", `{"required_pull_request_reviews":{"required_approving_review_count":1}}`)
	w.rest(t, "ada-token", "PATCH", "", `{"allow_merge_commit":false,"allow_rebase_merge":false}`)
	for _, step := range []struct{ event, want string }{
		{"", "REVIEW_REQUIRED"}, {"REQUEST_CHANGES", "CHANGES_REQUESTED"}, {"APPROVE", "APPROVED"},
	} {
		if step.event != "" {
			w.rest(t, "ada-token", "POST", "/pulls/1/reviews", fmt.Sprintf(`{"event":%q,"body":"x"}`, step.event))
		}
		got, err := rob.ReviewState(t.Context(), repo, 1)
		if err != nil || got.Decision != step.want || !slices.Equal(got.Methods, []string{"squash"}) {
			t.Errorf("after %q: %+v, %v, want %s", step.event, got, err, step.want)
		}
	}
}

func TestWhoIsAMember(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	var members forge.Members = w.client(t, "ada-token")
	for login, want := range map[string]bool{"ada": true, "max": false, "nobody": false} {
		if got, err := members.Member(ctx, "acme", login); err != nil || got != want {
			t.Errorf("%s: %t, %v", login, got, err)
		}
	}
	if got, err := w.client(t, "max-token").Member(ctx, "acme", "ada"); got || !errors.Is(err, forge.ErrDenied) {
		t.Errorf("to who is no member themselves: %t, %v", got, err)
	}
	if self, err := w.client(t, "rob-token").Account(ctx); err != nil || self.Login != "rob[bot]" || !self.Bot || self.ID == 0 {
		t.Errorf("account = %+v, %v", self, err)
	}
	if _, err := w.client(t, "wrong").Account(ctx); !errors.Is(err, forge.ErrDenied) || !strings.Contains(err.Error(), "401 Bad credentials") {
		t.Errorf("with a wrong token: %v", err)
	}
}
