package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
)

const queueRuleset = `{"name":"queue","target":"branch","enforcement":"active",
	"conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"],"exclude":[]}},
	"rules":[{"type":"merge_queue","parameters":{"merge_method":"SQUASH"}},
		{"type":"required_status_checks","parameters":{"required_status_checks":[{"context":"ci"}]}}]}`

func TestTheMergeQueueTakesTheGivenHeadOnce(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	rob, ada := w.client(t, "rob-token"), w.client(t, "ada-token")
	pr := w.propose(t, forge.NewPullRequest{})
	if err := rob.Enqueue(ctx, repo, 1, pr.HeadSHA); !errors.Is(err, forge.ErrNotMergeable) {
		t.Errorf("without a queue: %v", err)
	}
	w.rest(t, "ada-token", "POST", "/rulesets", queueRuleset)
	if err := rob.Enqueue(ctx, repo, 1, pr.HeadSHA); !errors.Is(err, forge.ErrNotMergeable) || !strings.Contains(err.Error(), "ci") {
		t.Errorf("without the check of the head: %v", err)
	}
	w.report(t, pr.HeadSHA, "ci", "success")
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"another head", rob.Enqueue(ctx, repo, 1, strings.Repeat("1", 40)), forge.ErrHeadMoved},
		{"no permission", w.client(t, "max-token").Enqueue(ctx, repo, 1, pr.HeadSHA), forge.ErrDenied},
		{"what is none", rob.Enqueue(ctx, repo, 9, pr.HeadSHA), forge.ErrNotFound},
		{"out of the queue what is not in it", rob.Dequeue(ctx, repo, 1), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.err, c.want)
		}
	}
	for range 2 {
		must(t, rob.Enqueue(ctx, repo, 1, pr.HeadSHA))
	}
	q, err := rob.Queued(ctx, repo, 1)
	must(t, err)
	if q.State != "AWAITING_CHECKS" || q.Position != 1 || !strings.HasPrefix(q.By.Login, "rob") || !q.Removed.IsZero() {
		t.Errorf("in the queue it is %+v", q)
	}
	must(t, ada.Dequeue(ctx, repo, 1))
	q, err = rob.Queued(ctx, repo, 1)
	must(t, err)
	if q.State != "" || q.Removed.IsZero() || q.Remover.Login != "ada" || q.Remover.Bot || q.Reason == "" {
		t.Errorf("out of the queue it is %+v", q)
	}
}
