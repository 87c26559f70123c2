package outbound

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
)

// Attestation is the envelope of a change that was checked. It may be pushed to its reference, and to no other.
// Only Attestation of a Checker makes one.
type Attestation struct {
	ref      string
	envelope []byte
}

// Ref returns the reference that the envelope is for.
func (a Attestation) Ref() string { return a.ref }

// Envelope returns the envelope.
func (a Attestation) Envelope() []byte { return a.envelope }

// Attestation checks an attestation of a change. It has names that agents chose, such as those of tests. The
// error is a *Refusal if it may not leave.
func (c *Checker) Attestation(change Change, envelope []byte) (Attestation, error) {
	s := c.findings()
	add := func(rule, detail string) { s.add(Finding{Rule: rule, Path: "attestation", Detail: detail}) }
	statement, err := attestation.Read(envelope)
	switch {
	case err != nil:
		add("attestation", err.Error())
	case statement.Commit() != change.Head():
		add("attestation", fmt.Sprintf("it is on commit %s, want %s", statement.Commit(), change.Head()))
	default:
		text, err := json.MarshalIndent(statement, "", " ")
		if err != nil {
			return Attestation{}, err
		}
		for _, f := range c.secrets.ScanText(string(text)) {
			add("secret", f.What())
		}
	}
	if err := s.err(); err != nil {
		return Attestation{}, err
	}
	return Attestation{statement.Ref(), envelope}, nil
}
