package local

import (
	"net/http"
	"slices"
	"strings"
)

// guard is the classic protection of a branch.
type guard struct {
	ID      int64    `json:"id"`
	Branch  string   `json:"branch"`
	Demands *demands `json:"demands"` // nil when it was taken off
}

func (g guard) key() int64 { return g.ID }

// guard is the branch's classic protection; nil for none.
func (r repo) guard(branch string) *demands {
	for _, g := range slices.Backward(r.guards) {
		if g.Branch == branch {
			return g.Demands
		}
	}
	return nil
}

// guardRequest is classic protection as clients ask for it.
type guardRequest struct {
	Checks *struct {
		Strict   bool
		Contexts []string
		Checks   []demandedCheck
	} `json:"required_status_checks"`
	Reviews *struct {
		DismissStale bool `json:"dismiss_stale_reviews"`
		CodeOwners   bool `json:"require_code_owner_reviews"`
		Approvals    *int `json:"required_approving_review_count"`
		LastPush     bool `json:"require_last_push_approval"`
	} `json:"required_pull_request_reviews"`
	Linear  bool `json:"required_linear_history"`
	Threads bool `json:"required_conversation_resolution"`
}

func (in guardRequest) demands() demands {
	d := demands{Linear: in.Linear, Threads: in.Threads}
	if k := in.Checks; k != nil {
		d.Strict, d.Checks = k.Strict, slices.Clone(k.Checks)
		for _, context := range k.Contexts {
			if !slices.ContainsFunc(d.Checks, func(c demandedCheck) bool { return c.Context == context }) {
				d.Checks = append(d.Checks, demandedCheck{Context: context})
			}
		}
	}
	if w := in.Reviews; w != nil {
		d.Reviews, d.Approvals = true, deref(w.Approvals, 1)
		d.DismissStale, d.CodeOwners, d.LastPush = w.DismissStale, w.CodeOwners, w.LastPush
	}
	return d
}

// guardPath tells branches/{branch}/protection from a branch.
func (c *call) guardPath() (branch string, err error) {
	branch, ok := strings.CutSuffix(c.PathValue("branch"), "/protection")
	if !ok {
		return "", errNotFound
	}
	refs, err := c.f.refs(c.Context(), c.name())
	if err != nil {
		return "", err
	}
	if refs["refs/heads/"+branch] == "" {
		return "", &failure{status: http.StatusNotFound, message: "Branch not found"}
	}
	return branch, nil
}

func protect(c *call) (int, any, error) {
	branch, err := c.guardPath()
	if err != nil {
		return 0, nil, err
	}
	var in guardRequest
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	d := in.demands()
	if err := c.setGuard(branch, &d); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().guard(c.repo, branch, d), nil
}

func unprotect(c *call) (int, any, error) {
	branch, err := c.guardPath()
	if err == nil && c.repo.guard(branch) == nil {
		err = errNotProtected
	}
	if err == nil {
		err = c.setGuard(branch, nil)
	}
	return http.StatusNoContent, nil, err
}

func (c *call) setGuard(branch string, d *demands) error {
	return c.change(func(t *tx, _ repo) error {
		g := guard{ID: t.id(), Branch: branch, Demands: d}
		t.put(entry{Repo: c.name(), Guard: &g})
		return nil
	})
}

var errNotProtected = &failure{status: http.StatusNotFound, message: "Branch not protected"}

// getGuard shows the protection to who administers the repository.
func getGuard(c *call) (int, any, error) {
	branch, err := c.guardPath()
	d := c.repo.guard(branch)
	switch {
	case err != nil:
		return 0, nil, err
	case d == nil:
		return 0, nil, errNotProtected
	case c.level < admin:
		return 0, nil, &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	return http.StatusOK, c.view().guard(c.repo, branch, *d), nil
}

func (v view) guard(r repo, branch string, d demands) object {
	self := v.repoAPI(r) + "/branches/" + escapePath(branch) + "/protection"
	on := func(enabled bool) object { return object{"enabled": enabled} }
	o := object{
		"url": self, "required_linear_history": on(d.Linear), "required_conversation_resolution": on(d.Threads),
		"enforce_admins": object{"url": self + "/enforce_admins", "enabled": true},
	}
	if d.Checks != nil || d.Strict {
		k := d.checkObject()
		k["url"], k["contexts_url"], k["strict"] = self+"/required_status_checks", self+"/required_status_checks/contexts", d.Strict
		o["required_status_checks"] = k
	}
	if d.Reviews {
		o["required_pull_request_reviews"] = object{
			"url": self + "/required_pull_request_reviews", "dismiss_stale_reviews": d.DismissStale, "require_code_owner_reviews": d.CodeOwners,
			"required_approving_review_count": d.Approvals, "require_last_push_approval": d.LastPush,
		}
	}
	return o
}

// checkObject is what everybody may see of the demanded checks.
func (d demands) checkObject() object {
	contexts := []string{}
	for _, k := range d.Checks {
		contexts = append(contexts, k.Context)
	}
	return object{"enforcement_level": "everyone", "contexts": contexts, "checks": each(d.Checks, func(k demandedCheck) object {
		o := object{"context": k.Context, "app_id": nil}
		if app := deref(k.App, -1); app > 0 {
			o["app_id"] = app
		}
		return o
	})}
}

// branchGuard is the protection as the branch's own answer shows it.
func (v view) branchGuard(r repo, branch string) (protected bool, protection object) {
	_, protected = r.demands(branch)
	d := r.guard(branch)
	if d == nil {
		return protected, object{"enabled": false, "required_status_checks": object{"enforcement_level": "off", "contexts": []string{}, "checks": []object{}}}
	}
	k := d.checkObject()
	if len(d.Checks) == 0 {
		k["enforcement_level"] = "off"
	}
	return true, object{"enabled": true, "required_status_checks": k}
}
