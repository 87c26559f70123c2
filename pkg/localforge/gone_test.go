package localforge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"
)

func TestAnIssueThatIsNotHereAnyMore(t *testing.T) {
	w, hook := hooked(t)
	must(t, w.CreateRepo(t.Context(), "acme/gadgets", source(t)))
	ada := w.client(t, adaToken)
	for _, title := range []string{"deleted", "transferred", "kept"} {
		i := newIssue(t, ada, title)
		_, _, err := ada.Issues.CreateComment(t.Context(), owner, name, i.GetNumber(), &github.IssueComment{Body: github.String(title)})
		must(t, err)
	}
	hook.next(6)
	must(t, w.DeleteIssue(full, 1))
	there, err := w.TransferIssue(full, 2, "acme/gadgets")
	must(t, err)
	hook.want("both", "issues deleted", "issues transferred")
	noFollow := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, tc := range []struct {
		method, path string
		status       int
		to           string
	}{
		{"GET", "/issues/1", http.StatusGone, ""},
		{"GET", "/issues/1/comments", http.StatusGone, ""},
		{"POST", "/issues/1/comments", http.StatusGone, ""},
		{"GET", "/issues/2", http.StatusMovedPermanently, "/issues/1"},
		{"GET", "/issues/2/comments?per_page=5", http.StatusMovedPermanently, "/issues/1/comments?per_page=5"},
		{"POST", "/issues/2/comments", http.StatusTemporaryRedirect, "/issues/1/comments"},
		{"PATCH", "/issues/2", http.StatusTemporaryRedirect, "/issues/1"},
		{"GET", "/issues/3", http.StatusOK, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, w.url+"/api/v3/repos/"+full+tc.path, strings.NewReader(`{"body":"x"}`))
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+adaToken)
		resp, err := noFollow.Do(r)
		must(t, err)
		must(t, resp.Body.Close())
		if to := resp.Header.Get("Location"); resp.StatusCode != tc.status || !strings.HasSuffix(to, tc.to) || (to == "") != (tc.to == "") {
			t.Errorf("%s %s: %s, to %q", tc.method, tc.path, resp.Status, to)
		}
	}
	all, _, err := ada.Issues.ListByRepo(t.Context(), owner, name, &github.IssueListByRepoOptions{State: "all"})
	if err != nil || len(all) != 1 || all[0].GetTitle() != "kept" {
		t.Errorf("listed are %v, %v", all, err)
	}
	comments, _, err := ada.Issues.ListComments(t.Context(), owner, "gadgets", int(there), nil)
	if err != nil || len(comments) != 1 || comments[0].GetBody() != "transferred" {
		t.Errorf("there are the comments %v, %v", comments, err)
	}
	if again := newIssue(t, ada, "another"); again.GetNumber() != 4 {
		t.Errorf("the next number is %d", again.GetNumber())
	}
	hook.want("an issue", "issues opened")
}
