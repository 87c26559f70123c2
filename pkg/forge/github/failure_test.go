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

// jobLog is a log of Actions: each line with its time, the error before what cleans up.
const jobLog = "\xef\xbb\xbf2026-03-01T12:00:00.0000000Z ##[group]Run go test ./...\n" +
	"2026-03-01T12:00:01.0000000Z \x1b[31m--- FAIL: TestSum (0.00s)\x1b[0m\n" +
	"2026-03-01T12:00:01.1000000Z     sum_test.go:7: got 3, want 4\n" +
	"2026-03-01T12:00:02.0000000Z ##[error]Process completed with exit code 1.\n" +
	"2026-03-01T12:00:03.0000000Z Cleaning up orphan processes\n"

// actions answers as GitHub does for the run 7 of a job.
func actions(t *testing.T, logs http.HandlerFunc) *github.Client {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /repos/acme/widgets/check-runs/7", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id": 7, "details_url": "https://github.com/acme/widgets/actions/runs/3/job/9",
			"output": {"summary": "One test fails.", "text": null, "annotations_count": 1}}`)
	})
	mux.HandleFunc("GET /repos/acme/widgets/check-runs/7/annotations", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[{"path": "sum_test.go", "start_line": 7, "end_line": 7, "annotation_level": "failure", "message": "got 3, want 4"}]`)
	})
	mux.HandleFunc("GET /repos/acme/widgets/actions/jobs/9/logs", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			t.Error("the forge is asked without the token")
		}
		http.Redirect(w, r, server.URL+"/storage", http.StatusFound)
	})
	mux.HandleFunc("GET /storage", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the storage is asked with the token")
		}
		logs(w, r)
	})
	c, err := github.New(github.Config{BaseURL: server.URL + "/", Token: "secret"})
	must(t, err)
	return c
}

func TestAFailureHasItsAnnotationsAndTheEndOfItsLog(t *testing.T) {
	c := actions(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, jobLog) })
	got, err := c.Failure(t.Context(), repo, 7)
	must(t, err)
	if want := (forge.Annotation{Path: "sum_test.go", Line: 7, Level: "failure", Message: "got 3, want 4"}); got.Summary != "One test fails." ||
		len(got.Annotations) != 1 || got.Annotations[0] != want {
		t.Errorf("the failure is %+v", got)
	}
	if want := "##[group]Run go test ./...\n--- FAIL: TestSum (0.00s)\n    sum_test.go:7: got 3, want 4\n##[error]Process completed with exit code 1."; got.Log != want {
		t.Errorf("the log ends with %q", got.Log)
	}
}

func TestALongLogIsCutToItsEnd(t *testing.T) {
	c := actions(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100_000 {
			fmt.Fprintf(w, "2026-03-01T12:00:00.0000000Z line %d\n", i)
		}
	})
	got, err := c.Failure(t.Context(), repo, 7)
	must(t, err)
	if len(got.Log) > 6<<10 || !strings.HasPrefix(got.Log, "line ") || !strings.HasSuffix(got.Log, "line 99999") {
		t.Errorf("%d bytes are left: %.40q", len(got.Log), got.Log)
	}
}

func TestAFailureWithoutALogIsStillAFailure(t *testing.T) {
	c := actions(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if got, err := c.Failure(t.Context(), repo, 7); err != nil || got.Log != "" || len(got.Annotations) != 1 {
		t.Errorf("it is %+v, %v", got, err)
	}
	if got, err := c.Failure(t.Context(), repo, 8); err != nil || got.Log != "" || len(got.Annotations) != 0 {
		t.Errorf("of a run that was deleted it is %+v, %v", got, err)
	}
}

func TestTheLocalForgeKeepsAnnotations(t *testing.T) {
	w := newEnv(t)
	c := w.client(t, "rob-token")
	head := w.push(t, "rob-token", "fix/it", "a.txt", "one\n")
	w.rest(t, "rob-token", "POST", "/check-runs", fmt.Sprintf(`{"name":"build","head_sha":%q,"conclusion":"failure","output":{"title":"Build",
		"summary":"It does not build.","annotations":[{"path":"a.go","start_line":3,"end_line":3,"annotation_level":"failure","message":"undefined: x"}]}}`, head))
	runs, err := c.CheckRuns(t.Context(), repo, head)
	must(t, err)
	got, err := c.Failure(t.Context(), repo, runs[0].ID)
	must(t, err)
	if len(got.Annotations) != 1 || got.Annotations[0].Message != "undefined: x" || got.Summary != "It does not build." || got.Log != "" {
		t.Errorf("the failure is %+v", got)
	}
}
