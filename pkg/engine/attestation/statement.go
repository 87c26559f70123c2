package attestation

import (
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// The types of a statement. A change of the predicate's meaning has a new version.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/signalbox/signalbox/attestation/change/v1"
)

// The names of digests.
const (
	gitCommit = "gitCommit"
	gitTree   = "gitTree"
)

// Statement is an in-toto statement on one commit and its tree.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is an object that a statement is on.
type Subject struct {
	Digest map[string]string `json:"digest"`
}

// Predicate is the record of a change in the log. It has no text of issues, prompts, answers or tests.
type Predicate struct {
	Instance   string    `json:"instance"`
	Repository string    `json:"repository,omitempty"`
	Base       string    `json:"base"` // commit
	FirstSeq   uint64    `json:"first_seq"`
	LastSeq    uint64    `json:"last_seq"`
	At         time.Time `json:"at"` // time of LastSeq

	Workflow      string `json:"workflow"`
	Definition    string `json:"definition"`              // hash; it has the policy
	Configuration string `json:"configuration,omitempty"` // hash of the repository's own, which narrows the policy

	Steps    []Step     `json:"steps"`
	Proof    Proof      `json:"proof"`
	Checks   []Check    `json:"checks,omitempty"`
	People   []Decision `json:"people,omitempty"`
	Accounts bool       `json:"accounts"`          // whether the server attested the senders when this was signed
	Program  string     `json:"program,omitempty"` // version of the program that signed
}

// Step is one result of an agent.
type Step struct {
	Seq     uint64   `json:"seq"`
	State   string   `json:"state"`
	Role    string   `json:"role"`
	Agent   string   `json:"agent"`
	Program string   `json:"program,omitempty"` // version of the agent's program, as the agent stated it
	Brain   string   `json:"brain,omitempty"`   // with its model, as the agent reported it
	Status  string   `json:"status"`
	Commit  string   `json:"commit,omitempty"`
	Prompts []string `json:"prompts,omitempty"` // SHA-256 of each, as it was sent and without credentials
}

// Proof compares the tests of the commit with those of its base.
type Proof struct {
	Shown  bool   `json:"shown"`
	Reason string `json:"reason,omitempty"` // why nothing is shown
	Waived string `json:"waived,omitempty"` // the person who accepted that
	Tests  []Test `json:"tests,omitempty"`  // red on the base and green on the change
	Base   *Count `json:"base,omitempty"`   // nil: nobody compared
	Change *Count `json:"change,omitempty"`
	Broken int    `json:"broken,omitempty"`
	Flaky  int    `json:"flaky,omitempty"`
}

// Test is a test that shows the change to be right.
type Test struct {
	Name   string `json:"name"`
	By     string `json:"by,omitempty"` // the role that wrote it
	Base   string `json:"base"`
	Change string `json:"change"`
}

// Count is how many tests a run had, by outcome.
type Count struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Check is evidence on the commit.
type Check struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Role    string `json:"role,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
}

// Decision is a decision of a person.
type Decision struct {
	Seq        uint64 `json:"seq"`
	What       string `json:"what"` // the signal, answered, resolved or override
	By         string `json:"by"`
	Commit     string `json:"commit,omitempty"`     // that the work was at
	Permission string `json:"permission,omitempty"` // on the repository, as the forge said
}

var digest = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// check returns an error unless the statement is of one commit and one tree, and of our predicate.
func (s Statement) check() error {
	switch {
	case s.Type != StatementType:
		return fmt.Errorf("%w: its type is %.100q, want %s", ErrForm, s.Type, StatementType)
	case s.PredicateType != PredicateType:
		return fmt.Errorf("%w: its predicate is %.100q, want %s", ErrForm, s.PredicateType, PredicateType)
	case len(s.Subject) != 2 || !digest.MatchString(s.Commit()) || !digest.MatchString(s.Tree()):
		return fmt.Errorf("%w: want one %s and one %s as its subjects", ErrForm, gitCommit, gitTree)
	}
	return nil
}

// Commit returns the commit that the statement is on, else "".
func (s Statement) Commit() string { return s.digest(gitCommit) }

// Tree returns the tree of the commit, else "".
func (s Statement) Tree() string { return s.digest(gitTree) }

func (s Statement) digest(name string) string {
	for _, one := range s.Subject {
		if len(one.Digest) == 1 && one.Digest[name] != "" {
			return one.Digest[name]
		}
	}
	return ""
}

var (
	// ErrOther means that a statement is on another commit, with other files.
	ErrOther = errors.New("not attested")
	// ErrTree means that the commit has another tree than its statement.
	ErrTree = errors.New("the attestation has another tree than the commit")
)

// Covers returns nil if the statement is on the commit, or on another one with the same tree, as after a
// squash or a rebase. tree is empty where no repository has the commit: its hash covers its tree. byTree
// reports that only the tree is the same.
func (s Statement) Covers(commit, tree string) (byTree bool, err error) {
	switch {
	case s.Commit() == commit && tree != "" && s.Tree() != tree:
		return false, ErrTree
	case s.Commit() == commit:
		return false, nil
	case tree != "" && s.Tree() == tree:
		return true, nil
	}
	return false, fmt.Errorf("%w: %s; the attestation is on commit %s", ErrOther, commit, s.Commit())
}
