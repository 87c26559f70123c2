package rest

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// guardRequest is a client's classic protection.
type guardRequest struct {
	Checks *struct {
		Strict   bool
		Contexts []string
		Checks   []store.DemandedCheck
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

func (in guardRequest) demands() store.Demands {
	d := store.Demands{Linear: in.Linear, Threads: in.Threads}
	if k := in.Checks; k != nil {
		d.Strict, d.Checks = k.Strict, slices.Clone(k.Checks)
		for _, context := range k.Contexts {
			if !slices.ContainsFunc(d.Checks, func(c store.DemandedCheck) bool { return c.Context == context }) {
				d.Checks = append(d.Checks, store.DemandedCheck{Context: context})
			}
		}
	}
	if w := in.Reviews; w != nil {
		d.Reviews, d.Approvals = true, deref(w.Approvals, 1)
		d.DismissStale, d.CodeOwners, d.LastPush = w.DismissStale, w.CodeOwners, w.LastPush
	}
	return d
}

// guardPath returns the branch in branches/{branch}/protection.
func (c *call) guardPath() (branch string, err error) {
	branch, ok := strings.CutSuffix(c.PathValue("branch"), "/protection")
	if !ok {
		return "", host.ErrNotFound
	}
	refs, err := c.Git().Refs(c.Context())
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
	return http.StatusOK, c.view().guard(c.Repo, branch, d), nil
}

func unprotect(c *call) (int, any, error) {
	branch, err := c.guardPath()
	if err == nil && c.Repo.Guard(branch) == nil {
		err = errNotProtected
	}
	if err == nil {
		err = c.setGuard(branch, nil)
	}
	return http.StatusNoContent, nil, err
}

func (c *call) setGuard(branch string, d *store.Demands) error {
	return c.Change(func(t *store.Tx, _ store.Repo) error {
		g := store.Guard{ID: t.ID(), Branch: branch, Demands: d}
		t.Put(store.Entry{Repo: c.Name(), Guard: &g})
		return nil
	})
}

var errNotProtected = &failure{status: http.StatusNotFound, message: "Branch not protected"}

// getGuard shows the protection to administrators of the repository.
func getGuard(c *call) (int, any, error) {
	branch, err := c.guardPath()
	d := c.Repo.Guard(branch)
	switch {
	case err != nil:
		return 0, nil, err
	case d == nil:
		return 0, nil, errNotProtected
	case c.Level < store.Admin:
		return 0, nil, &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	return http.StatusOK, c.view().guard(c.Repo, branch, *d), nil
}

func (v view) guard(r store.Repo, branch string, d store.Demands) object {
	self := v.RepoAPI(r) + "/branches/" + escapePath(branch) + "/protection"
	on := func(enabled bool) object { return object{"enabled": enabled} }
	o := object{
		"url": self, "required_linear_history": on(d.Linear), "required_conversation_resolution": on(d.Threads),
		"enforce_admins": object{"url": self + "/enforce_admins", "enabled": true},
	}
	if d.Checks != nil || d.Strict {
		k := checkObject(d)
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

// checkObject returns the demanded checks as every reader may see them.
func checkObject(d store.Demands) object {
	contexts := []string{}
	for _, k := range d.Checks {
		contexts = append(contexts, k.Context)
	}
	return object{"enforcement_level": "everyone", "contexts": contexts, "checks": each(d.Checks, func(k store.DemandedCheck) object {
		o := object{"context": k.Context, "app_id": nil}
		if app := deref(k.App, -1); app > 0 {
			o["app_id"] = app
		}
		return o
	})}
}

// branchGuard returns the protection as the answer about the branch has it.
func (v view) branchGuard(r store.Repo, branch string) (protected bool, protection object) {
	_, protected = rules.Of(r, branch)
	d := r.Guard(branch)
	if d == nil {
		none := object{"enforcement_level": "off", "contexts": []string{}, "checks": []object{}}
		return protected, object{"enabled": false, "required_status_checks": none}
	}
	k := checkObject(*d)
	if len(d.Checks) == 0 {
		k["enforcement_level"] = "off"
	}
	return true, object{"enabled": true, "required_status_checks": k}
}

func (v view) ruleset(r store.Repo, s store.Ruleset) object {
	enforcement := "disabled"
	if s.Active {
		enforcement = "active"
	}
	return object{
		"id": s.ID, "node_id": nodeID("RepositoryRuleset", s.ID), "name": s.Name, "target": "branch", "source_type": "Repository",
		"source": r.FullName(), "enforcement": enforcement, "created_at": s.Created, "updated_at": s.Created,
		"conditions": object{"ref_name": object{"include": s.Branches, "exclude": []string{}}},
		"rules":      each(s.Rules, ruleObject),
	}
}

func ruleObject(r store.Rule) object {
	o := object{"type": r.Type}
	if r.Parameters != nil {
		o["parameters"] = r.Parameters
	}
	return o
}

func createRuleset(c *call) (int, any, error) {
	var in struct {
		Name, Enforcement string
		Conditions        struct {
			Ref struct{ Include []string } `json:"ref_name"`
		}
		Rules []store.Rule
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if in.Name == "" || !slices.Contains([]string{"active", "disabled", "evaluate"}, in.Enforcement) {
		return 0, nil, invalid("Ruleset", "enforcement", "invalid")
	}
	for _, one := range in.Rules {
		switch err := rules.Check(one); {
		case errors.Is(err, rules.ErrNoType):
			return 0, nil, invalid("Ruleset", "type", "missing_field")
		case err != nil:
			return 0, nil, invalid("Ruleset", "parameters", "invalid")
		}
	}
	var made store.Ruleset
	err := c.Change(func(t *store.Tx, _ store.Repo) error {
		made = store.Ruleset{
			ID: t.ID(), Name: in.Name, Active: in.Enforcement == "active", Branches: in.Conditions.Ref.Include, Rules: in.Rules, Created: t.Now,
		}
		t.Put(store.Entry{Repo: c.Name(), Ruleset: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().ruleset(c.Repo, made), nil
}

func deleteRuleset(c *call) (int, any, error) {
	return http.StatusNoContent, nil, c.Change(func(t *store.Tx, r store.Repo) error {
		s, ok := r.Rulesets.Get(c.PathID("id"))
		if !ok || s.Deleted {
			return host.ErrNotFound
		}
		s.Deleted = true
		t.Put(store.Entry{Repo: c.Name(), Ruleset: &s})
		return nil
	})
}

// listRules lists the rules of a branch from all rulesets.
func listRules(c *call) (int, any, error) {
	rows := []object{}
	for _, s := range c.Repo.RulesetsOf(c.PathValue("branch")) {
		for _, one := range s.Rules {
			o := ruleObject(one)
			o["ruleset_source_type"], o["ruleset_source"], o["ruleset_id"] = "Repository", c.Name(), s.ID
			rows = append(rows, o)
		}
	}
	return http.StatusOK, page(c, rows), nil
}
