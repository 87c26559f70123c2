package github_test

import (
	"fmt"
	"testing"
	"time"
)

func TestAnIssueHasTheNumberOfOpenIssuesThatBlockIt(t *testing.T) {
	row := `{"number":7,"title":"The sum is wrong","state":"open","issue_dependencies_summary":{"blocked_by":2,"total_blocked_by":3,"blocking":0,"total_blocking":0}}`
	one, err := answering(t, 200, nil, row).Issue(t.Context(), "acme/widgets", 7)
	must(t, err)
	all, err := answering(t, 200, nil, "["+row+"]").Issues(t.Context(), "acme/widgets", time.Time{})
	must(t, err)
	if one.Blocked != 2 || len(all) != 1 || all[0].Blocked != 2 || all[0].Title != one.Title || one.Title == "" {
		t.Errorf("read %+v and listed %+v", one, all)
	}
}

func TestTheIssuesThatBlockAnotherAreListedWithTheirRepositories(t *testing.T) {
	all, err := answering(t, 200, nil, `[
		{"number":12,"state":"open","repository_url":"https://api.github.com/repos/Acme/Widgets"},
		{"number":3,"state":"closed","repository_url":"https://ghe.example/api/v3/repos/x/y"}, null]`).BlockedBy(t.Context(), "acme/widgets", 7)
	must(t, err)
	got := ""
	for _, i := range all {
		got += fmt.Sprintf("%s#%d %s, ", i.Repo, i.Number, i.State)
	}
	if want := "acme/widgets#12 open, x/y#3 closed, "; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
}
