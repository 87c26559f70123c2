package local

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// ruleset is rules for some branches.
type ruleset struct {
	ID       int64     `json:"id"`
	Name     string    `json:"name"`
	Active   bool      `json:"active"`
	Branches []string  `json:"branches"` // full refs, or ~DEFAULT_BRANCH, or ~ALL
	Rules    []rule    `json:"rules"`
	Created  time.Time `json:"created"`
	Deleted  bool      `json:"deleted,omitempty"`
}

// rule is one rule, as GitHub spells it.
type rule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

func (r ruleset) key() int64 { return r.ID }

// rulesetsOf is the active rulesets of the branch.
func (r repo) rulesetsOf(branch string) []ruleset {
	return r.rulesets.where(func(s ruleset) bool {
		return s.Active && !s.Deleted && slices.ContainsFunc(s.Branches, func(b string) bool {
			return b == "~ALL" || b == "~DEFAULT_BRANCH" && branch == r.Branch || b == "refs/heads/"+branch
		})
	})
}

func (v view) ruleset(r repo, s ruleset) object {
	enforcement := "disabled"
	if s.Active {
		enforcement = "active"
	}
	return object{
		"id": s.ID, "node_id": nodeID("RepositoryRuleset", s.ID), "name": s.Name, "target": "branch", "source_type": "Repository",
		"source": r.fullName(), "enforcement": enforcement, "created_at": s.Created, "updated_at": s.Created,
		"conditions": object{"ref_name": object{"include": s.Branches, "exclude": []string{}}},
		"rules":      each(s.Rules, rule.object),
	}
}

func (r rule) object() object {
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
		Rules []rule
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if in.Name == "" || !slices.Contains([]string{"active", "disabled", "evaluate"}, in.Enforcement) {
		return 0, nil, invalid("Ruleset", "enforcement", "invalid")
	}
	for _, one := range in.Rules {
		if err := one.check(); err != nil {
			return 0, nil, err
		}
	}
	var made ruleset
	err := c.change(func(t *tx, _ repo) error {
		made = ruleset{
			ID: t.id(), Name: in.Name, Active: in.Enforcement == "active", Branches: in.Conditions.Ref.Include, Rules: in.Rules, Created: t.now,
		}
		t.put(entry{Repo: c.name(), Ruleset: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().ruleset(c.repo, made), nil
}

// check refuses parameters that cannot be read.
func (r rule) check() error {
	var into any
	switch r.Type {
	case "":
		return invalid("Ruleset", "type", "missing_field")
	case "required_status_checks":
		into = &statusRule{}
	case "pull_request":
		into = &pullRule{}
	default:
		return nil
	}
	if json.Unmarshal(r.Parameters, into) != nil {
		return invalid("Ruleset", "parameters", "invalid")
	}
	return nil
}

func deleteRuleset(c *call) (int, any, error) {
	return http.StatusNoContent, nil, c.change(func(t *tx, r repo) error {
		s, ok := r.rulesets.get(c.id("id"))
		if !ok || s.Deleted {
			return errNotFound
		}
		s.Deleted = true
		t.put(entry{Repo: c.name(), Ruleset: &s})
		return nil
	})
}

// listRules answers with the rules of a branch, whichever ruleset they are of.
func listRules(c *call) (int, any, error) {
	rows := []object{}
	for _, s := range c.repo.rulesetsOf(c.PathValue("branch")) {
		for _, one := range s.Rules {
			o := one.object()
			o["ruleset_source_type"], o["ruleset_source"], o["ruleset_id"] = "Repository", c.name(), s.ID
			rows = append(rows, o)
		}
	}
	return http.StatusOK, page(c, rows), nil
}
