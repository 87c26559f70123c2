package local

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

var (
	checkStatuses    = []string{"queued", "in_progress", "completed"}
	checkConclusions = []string{"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"}
)

func (v view) check(r repo, k check) object {
	api := fmt.Sprintf("%s/check-runs/%d", v.repoAPI(r), k.ID)
	html := fmt.Sprintf("%s/runs/%d", v.repoURL(r), k.ID)
	details := k.DetailsURL
	if details == "" {
		details = html
	}
	return object{
		"id": k.ID, "node_id": nodeID("CheckRun", k.ID), "head_sha": k.SHA, "name": k.Name, "status": k.Status,
		"conclusion": optional(k.Conclusion), "external_id": k.ExternalID, "url": api, "html_url": html, "details_url": details,
		"started_at": moment(k.Started), "completed_at": moment(k.Completed), "check_suite": nil, "app": v.app(k.App),
		"pull_requests": []object{}, "output": object{
			"title": optional(k.Title), "summary": optional(k.Summary), "text": optional(k.Text),
			"annotations_count": 0, "annotations_url": api + "/annotations",
		},
	}
}

// latestChecks is the newest run of every name on the commit.
func (r repo) latestChecks(sha string) []check {
	var latest []check
	for _, k := range slices.Backward(r.checks) {
		if k.SHA == sha && !slices.ContainsFunc(latest, func(l check) bool { return l.Name == k.Name && l.App == k.App }) {
			latest = append(latest, k)
		}
	}
	slices.Reverse(latest)
	return latest
}

// app is the bot as the App it stands for; null for none.
func (v view) app(id int64) any {
	a, ok := v.state.accounts.get(id)
	if !ok {
		return nil
	}
	return object{
		"id": a.ID, "slug": strings.TrimSuffix(a.Login, "[bot]"), "node_id": nodeID("App", a.ID), "owner": v.account(a), "name": a.Login,
		"description": nil, "external_url": v.url, "html_url": v.url + "/apps/" + a.Login, "created_at": a.Created, "updated_at": a.Created,
		"permissions": object{"checks": "write"}, "events": []string{},
	}
}

// checkEdit is what a client says about a run; nil is as it was.
type checkEdit struct {
	Name       *string
	Status     *string
	Conclusion *string
	DetailsURL *string    `json:"details_url"`
	ExternalID *string    `json:"external_id"`
	Started    *time.Time `json:"started_at"`
	Completed  *time.Time `json:"completed_at"`
	Output     *struct{ Title, Summary, Text *string }
}

func (e checkEdit) apply(k check, now time.Time) (check, error) {
	k.Name, k.Status = deref(e.Name, k.Name), deref(e.Status, k.Status)
	k.DetailsURL, k.ExternalID = deref(e.DetailsURL, k.DetailsURL), deref(e.ExternalID, k.ExternalID)
	if e.Started != nil {
		k.Started = e.Started
	}
	if e.Output != nil {
		k.Title, k.Summary, k.Text = deref(e.Output.Title, k.Title), deref(e.Output.Summary, k.Summary), deref(e.Output.Text, k.Text)
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

func createCheck(c *call) (int, any, error) {
	var in struct {
		checkEdit
		SHA string `json:"head_sha"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	sha, err := c.f.commit(c.Context(), c.name(), in.SHA)
	if err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + in.SHA}
	}
	var made check
	err = c.change(func(t *tx, _ repo) error {
		made, err = in.apply(check{SHA: sha, Status: "queued", Started: &t.now}, t.now)
		made.ID = t.id()
		if c.user.Type == "Bot" {
			made.App = c.user.ID
		}
		t.put(entry{Repo: c.name(), Check: &made})
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().check(c.repo, made), nil
}

func getCheck(c *call) (int, any, error) {
	k, ok := c.repo.checks.get(c.id("id"))
	if !ok {
		return 0, nil, errNotFound
	}
	return http.StatusOK, c.view().check(c.repo, k), nil
}

func editCheck(c *call) (int, any, error) {
	var in checkEdit
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	var k check
	err := c.change(func(t *tx, r repo) (err error) {
		was, ok := r.checks.get(c.id("id"))
		if !ok {
			return errNotFound
		}
		k, err = in.apply(was, t.now)
		t.put(entry{Repo: c.name(), Check: &k})
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().check(c.repo, k), nil
}

func listChecks(c *call, sha string) (int, any, error) {
	q := c.URL.Query()
	rows := c.repo.latestChecks(sha)
	if q.Get("filter") == "all" {
		rows = c.repo.checks.where(func(k check) bool { return k.SHA == sha })
	}
	rows = slices.DeleteFunc(rows, func(k check) bool {
		return q.Get("check_name") != "" && k.Name != q.Get("check_name") || q.Get("status") != "" && k.Status != q.Get("status")
	})
	v := c.view()
	return http.StatusOK, object{
		"total_count": len(rows), "check_runs": each(page(c, rows), func(k check) object { return v.check(c.repo, k) }),
	}, nil
}
