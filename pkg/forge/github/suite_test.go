package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// suites answers as GitHub does for a commit on which Actions ran the check ci in two suites.
func suites(t *testing.T, runs http.HandlerFunc) *github.Client {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /repos/acme/widgets/commits/c1/check-runs", func(w http.ResponseWriter, _ *http.Request) {
		run := `{"id": %d, "name": "ci", "status": "completed", "conclusion": %q, "started_at": "2026-01-02T09:0%d:00Z",
			"check_suite": {"id": %d}, "app": {"id": 15368, "slug": "github-actions"}}`
		fmt.Fprintf(w, `{"total_count": 2, "check_runs": [`+run+","+run+`]}`, 2, "success", 2, 12, 1, "cancelled", 1, 11)
	})
	mux.HandleFunc("GET /repos/acme/widgets/commits/c1/status", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"statuses": []}`) })
	mux.HandleFunc("GET /repos/acme/widgets/actions/runs", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("head_sha") != "c1" {
			t.Errorf("the runs of %s are asked for", r.FormValue("head_sha"))
		}
		runs(w, r)
	})
	c, err := github.New(github.Config{BaseURL: server.URL + "/", Token: "secret"})
	must(t, err)
	return c
}

func TestOfSeveralRunsOfACheckTheNewestOfItsWorkflowCounts(t *testing.T) {
	of := func(one, other int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"workflow_runs": [{"check_suite_id": 11, "workflow_id": %d, "event": "push"}, {"check_suite_id": 12, "workflow_id": %d, "event": "push"}]}`, one, other)
		}
	}
	for name, c := range map[string]struct {
		runs http.HandlerFunc
		want string
	}{
		"of one workflow":           {of(5, 5), "success"},
		"of two":                    {of(5, 6), "cancelled success"},
		"that may not be read":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "ambiguous"},
		"of which one is not known": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"workflow_runs": []}`) }, "ambiguous"},
	} {
		t.Run(name, func(t *testing.T) {
			checks, err := forge.ChecksOf(t.Context(), suites(t, c.runs), repo, "c1")
			must(t, err)
			says := map[string]bool{}
			for _, c := range checks {
				says[c.State] = true
			}
			for _, want := range strings.Fields(c.want) {
				if !says[want] || len(says) != len(strings.Fields(c.want)) {
					t.Errorf("the checks are %+v, want %s", checks, c.want)
				}
			}
		})
	}
}
