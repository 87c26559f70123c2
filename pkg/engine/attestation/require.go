package attestation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnmet means that an attestation is genuine and does not have what is required.
var ErrUnmet = errors.New("the attestation does not meet")

// levels are the permissions on a repository, lowest first.
var levels = []string{"read", "triage", "write", "maintain", "admin"}

// approved is the signal of a person who approves.
const approved = "approved"

// Requirement is one condition of a verifier: shown, or approved-by=LEVEL|operator|ACTOR.
type Requirement struct{ text, by string }

// ParseRequirement reads a requirement.
func ParseRequirement(s string) (Requirement, error) {
	name, by, _ := strings.Cut(s, "=")
	if s == "shown" || name == "approved-by" && (by == "operator" || slices.Contains(levels, by) || strings.Contains(by, ":")) {
		return Requirement{s, by}, nil
	}
	return Requirement{}, fmt.Errorf("requirement %.60q: want shown, or approved-by= with operator, with %s, or with an actor such as github:ann",
		s, strings.Join(levels, ", "))
}

// Check returns an ErrUnmet unless the statement meets the requirement.
func (r Requirement) Check(s Statement) error {
	p := s.Predicate
	if r.by == "" {
		if !p.Proof.Shown {
			return fmt.Errorf("%w %s: %s", ErrUnmet, r.text, p.Proof.Reason)
		}
		return nil
	}
	if !p.Accounts {
		return fmt.Errorf("%w %s: the server had no accounts, so nobody attested who approved", ErrUnmet, r.text)
	}
	if slices.ContainsFunc(p.People, func(d Decision) bool { return d.Commit == s.Commit() && r.approves(d) }) {
		return nil
	}
	return fmt.Errorf("%w %s: the log has no such approval of commit %s", ErrUnmet, r.text, s.Commit())
}

// approves reports whether a decision is the approval that is required. A level counts on the repository
// alone, where the forge names it.
func (r Requirement) approves(d Decision) bool {
	switch {
	case d.What != approved:
		return false
	case r.by == "operator":
		return strings.HasPrefix(d.By, operator)
	case strings.Contains(r.by, ":"):
		return d.By == r.by
	}
	return slices.Index(levels, d.Permission) >= slices.Index(levels, r.by)
}
