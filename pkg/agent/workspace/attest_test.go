package workspace_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
	"github.com/signalbox/signalbox/pkg/engine/attestation"
)

// envelope is of a statement on a commit, with a test of that name, by a new key.
func envelope(t *testing.T, commit, tree, test string) []byte {
	t.Helper()
	private, _, err := attestation.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := attestation.ParsePrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := attestation.Sign(attestation.Statement{Type: attestation.StatementType, PredicateType: attestation.PredicateType,
		Subject:   []attestation.Subject{{Digest: map[string]string{"gitCommit": commit}}, {Digest: map[string]string{"gitTree": tree}}},
		Predicate: attestation.Predicate{Proof: attestation.Proof{Tests: []attestation.Test{{Name: test}}}}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAnAttestationGoesToTheReferenceOfItsOwnCommitAndNowhereElse(t *testing.T) {
	w, _, d, bare := delivery(t)
	change, err := w.node.Inspect(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.node.Push(t.Context(), d.Repo, change, d.To); err != nil {
		t.Fatal(err)
	}
	raw, err := w.node.Raw(t.Context(), d.Repo, d.Head)
	if err != nil {
		t.Fatal(err)
	}
	commit, files, err := attestation.ReadCommit(raw)
	if err != nil || commit != d.Head || files != w.run(bare, "rev-parse", d.Head+"^{tree}") {
		t.Errorf("the commit is %s of %s, %v", commit, files, err)
	}
	before := w.run(bare, "for-each-ref")
	for name, c := range map[string]struct {
		envelope []byte
		rule     string
	}{
		"of another commit":            {envelope(t, w.base, files, "TestSum"), "attestation"},
		"no envelope":                  {[]byte("{}"), "attestation"},
		"a tree that leaves its place": {envelope(t, commit, "../../heads/main", "TestSum"), "attestation"},
		"a credential in a name":       {envelope(t, commit, files, "ghp_"+secrettest.Chars(36, secrettest.Alnum)), "secret"},
	} {
		no := new(outbound.Refusal)
		err := w.node.PushAttestation(t.Context(), d.Repo, change, c.envelope, d.To)
		if !errors.As(err, &no) || no.Findings[0].Rule != c.rule || w.run(bare, "for-each-ref") != before {
			t.Errorf("%s: %v, and the forge has\n%s", name, err, w.run(bare, "for-each-ref"))
		}
	}
	for _, test := range []string{"TestSum", "TestDifference"} { // the second replaces the first
		text := envelope(t, commit, files, test)
		if err := w.node.PushAttestation(t.Context(), d.Repo, change, text, d.To); err != nil {
			t.Fatal(err)
		}
		refs := strings.Fields(w.run(bare, "for-each-ref", "--format=%(refname)", attestation.Refs))
		if len(refs) != 1 || refs[0] != attestation.Refs+files+"/"+commit || w.run(bare, "cat-file", "blob", refs[0]) != string(text) {
			t.Errorf("the forge has %q", refs)
		}
	}
}
