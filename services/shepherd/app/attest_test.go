package app

import (
	"crypto/ed25519"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
)

// TestTheAttestationOfAMergeHasItsApproval reads the attestation from the repository, as a stranger would.
func TestTheAttestationOfAMergeHasItsApproval(t *testing.T) {
	file := filepath.Join(t.TempDir(), "attest.key")
	key, err := attestation.OpenKey(file)
	if err != nil {
		t.Fatal(err)
	}
	w := newEnvSigning(t, file, nil, nil)
	s := w.readyToMerge()
	head := s.head()
	s.reaches("merged")
	g := w.ann.clone("trunk")
	if _, err := g.Run(t.Context(), "fetch", "--quiet", "origin", "refs/attestations/*:refs/attestations/*"); err != nil {
		t.Fatal(err)
	}
	refs, err := g.Run(t.Context(), "for-each-ref", "--format=%(refname)", "refs/attestations/*/"+head)
	if err != nil || refs == "" {
		t.Fatalf("the references are %q, %v", refs, err)
	}
	envelope, err := g.Run(t.Context(), "cat-file", "blob", refs)
	if err != nil {
		t.Fatal(err)
	}
	statement, _, err := attestation.Verify([]byte(envelope), []attestation.Key{{Public: key.Public().(ed25519.PublicKey)}})
	if err != nil {
		t.Fatal(err)
	}
	people := statement.Predicate.People
	if len(people) != 1 || people[0].What != "approved" || people[0].By != "github:ann" || people[0].Permission != "admin" || people[0].Commit != head {
		t.Errorf("the decisions of people are %+v", people)
	}
}
