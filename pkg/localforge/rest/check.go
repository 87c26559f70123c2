package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

var (
	checkStatuses    = []string{"queued", "in_progress", "completed"}
	checkLevels      = []string{"notice", "warning", "failure"}
	checkConclusions = []string{"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"}
)

func (v view) check(r store.Repo, k store.Check) object {
	api := fmt.Sprintf("%s/check-runs/%d", v.RepoAPI(r), k.ID)
	html := fmt.Sprintf("%s/runs/%d", v.RepoURL(r), k.ID)
	details := k.DetailsURL
	if details == "" {
		details = html
	}
	return object{
		"id": k.ID, "node_id": nodeID("CheckRun", k.ID), "head_sha": k.SHA, "name": k.Name, "status": k.Status,
		"conclusion": optional(k.Conclusion), "external_id": k.ExternalID, "url": api, "html_url": html, "details_url": details,
		"started_at": moment(k.Started), "completed_at": moment(k.Completed), "check_suite": nil, "app": v.app(k.App),
		"pull_requests": v.pullsAt(r, k.SHA), "output": object{
			"title": optional(k.Title), "summary": optional(k.Summary), "text": optional(k.Text),
			"annotations_count": len(k.Annotations), "annotations_url": api + "/annotations",
		},
	}
}

// pullsAt returns the open pull requests whose head is the commit, in short.
func (v view) pullsAt(r store.Repo, sha string) []object {
	end := func(branch, sha string) object {
		return object{"ref": branch, "sha": sha, "repo": object{"id": r.ID, "url": v.RepoAPI(r), "name": r.Name}}
	}
	rows := r.Issues.Where(func(i store.Issue) bool { return i.Open() && i.Pull.HeadSHA == sha })
	return each(rows, func(i store.Issue) object {
		p := i.Pull
		return object{"id": i.ID, "number": i.Number, "url": v.PullAPI(r, i), "head": end(p.Head, p.HeadSHA), "base": end(p.Base, p.BaseSHA)}
	})
}

// app returns the App that the bot stands for, null if there is no such account.
func (v view) app(id int64) any {
	a, ok := v.state.Accounts.Get(id)
	if !ok {
		return nil
	}
	return object{
		"id": v.appID(a), "slug": strings.TrimSuffix(a.Login, "[bot]"), "node_id": nodeID("App", a.ID), "owner": v.account(a), "name": a.Login,
		"description": nil, "external_url": string(v.Links), "html_url": string(v.Links) + "/apps/" + a.Login,
		"created_at": a.Created, "updated_at": a.Created,
		"permissions": object{"checks": "write"}, "events": []string{},
	}
}

// maxAnnotations is how many one request may add, as at GitHub.
const maxAnnotations = 50

// checkEdit is a client's change of a check run. A nil field stays as it was.
type checkEdit struct {
	Name       *string
	Status     *string
	Conclusion *string
	DetailsURL *string    `json:"details_url"`
	ExternalID *string    `json:"external_id"`
	Started    *time.Time `json:"started_at"`
	Completed  *time.Time `json:"completed_at"`
	Output     *struct {
		Title, Summary, Text *string
		Annotations          []store.Annotation
	}
}

func (e checkEdit) apply(k store.Check, now time.Time) (store.Check, error) {
	k.Name, k.Status = deref(e.Name, k.Name), deref(e.Status, k.Status)
	k.DetailsURL, k.ExternalID = deref(e.DetailsURL, k.DetailsURL), deref(e.ExternalID, k.ExternalID)
	if e.Started != nil {
		k.Started = e.Started
	}
	if e.Output != nil {
		k.Title, k.Summary, k.Text = deref(e.Output.Title, k.Title), deref(e.Output.Summary, k.Summary), deref(e.Output.Text, k.Text)
		if len(e.Output.Annotations) > maxAnnotations {
			return k, invalid("CheckRun", "annotations", "invalid")
		}
		for _, a := range e.Output.Annotations {
			if a.Path == "" || a.Message == "" || a.Start < 1 || a.End < a.Start || !slices.Contains(checkLevels, a.Level) {
				return k, invalid("CheckRun", "annotations", "invalid")
			}
		}
		k.Annotations = append(slices.Clip(k.Annotations), e.Output.Annotations...)
	}
	if e.Conclusion != nil {
		k.Conclusion, k.Status = *e.Conclusion, "completed"
	}
	if k.Status != "completed" {
		k.Conclusion, k.Completed = "", nil
	} else if k.Completed == nil {
		k.Completed = &now
	}
	if e.Completed != nil && k.Status == "completed" {
		k.Completed = e.Completed
	}
	switch {
	case k.Name == "":
		return k, invalid("CheckRun", "name", "missing_field")
	case !slices.Contains(checkStatuses, k.Status):
		return k, invalid("CheckRun", "status", "invalid")
	case k.Status == "completed" && !slices.Contains(checkConclusions, k.Conclusion):
		return k, invalid("CheckRun", "conclusion", "invalid")
	}
	return k, limit("CheckRun", "text", k.Text, maxText)
}

// errNotByApp refuses a check that an account makes which is no App's bot.
var errNotByApp = &failure{status: http.StatusForbidden, message: "You must authenticate via a GitHub App."}

func createCheck(c *call) (int, any, error) {
	if c.User.Type != "Bot" {
		return 0, nil, errNotByApp
	}
	var in struct {
		checkEdit
		SHA string `json:"head_sha"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	sha, err := c.Git().Resolve(c.Context(), in.SHA)
	if err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + in.SHA}
	}
	var made store.Check
	err = c.Change(func(t *store.Tx, _ store.Repo) error {
		made, err = in.apply(store.Check{SHA: sha, Status: "queued", Started: &t.Now}, t.Now)
		made.ID, made.App = t.ID(), c.User.ID
		t.Put(store.Entry{Repo: c.Name(), Check: &made})
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().check(c.Repo, made), c.advanceQueues()
}

func editCheck(c *call) (int, any, error) {
	if c.User.Type != "Bot" {
		return 0, nil, errNotByApp
	}
	var in checkEdit
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	var k store.Check
	err := c.Change(func(t *store.Tx, r store.Repo) (err error) {
		was, ok := r.Checks.Get(c.PathID("id"))
		if !ok {
			return host.ErrNotFound
		}
		if was.App != c.User.ID {
			return &failure{status: http.StatusForbidden, message: fmt.Sprintf(
				"Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", c.view().appID(c.User))}
		}
		k, err = in.apply(was, t.Now)
		t.Put(store.Entry{Repo: c.Name(), Check: &k})
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().check(c.Repo, k), c.advanceQueues()
}

func getCheck(c *call) (int, any, error) {
	k, ok := c.Repo.Checks.Get(c.PathID("id"))
	if !ok {
		return 0, nil, host.ErrNotFound
	}
	return http.StatusOK, c.view().check(c.Repo, k), nil
}

func listAnnotations(c *call) (int, any, error) {
	k, ok := c.Repo.Checks.Get(c.PathID("id"))
	if !ok {
		return 0, nil, host.ErrNotFound
	}
	v := c.view()
	return http.StatusOK, each(page(c, k.Annotations), func(a store.Annotation) object {
		return object{
			"path": a.Path, "start_line": a.Start, "end_line": a.End, "start_column": nil, "end_column": nil, "annotation_level": a.Level,
			"title": optional(a.Title), "message": optional(a.Message), "raw_details": optional(a.Details),
			"blob_href": fmt.Sprintf("%s/blob/%s/%s", v.RepoURL(c.Repo), k.SHA, a.Path),
		}
	}), nil
}

func listChecks(c *call, sha string) (int, any, error) {
	q := c.URL.Query()
	rows := c.Repo.LatestChecks(sha)
	if q.Get("filter") == "all" {
		rows = c.Repo.Checks.Where(func(k store.Check) bool { return k.SHA == sha })
	}
	rows = slices.DeleteFunc(rows, func(k store.Check) bool {
		return q.Get("check_name") != "" && k.Name != q.Get("check_name") || q.Get("status") != "" && k.Status != q.Get("status")
	})
	v := c.view()
	return http.StatusOK, object{
		"total_count": len(rows), "check_runs": each(page(c, rows), func(k store.Check) object { return v.check(c.Repo, k) }),
	}, nil
}
