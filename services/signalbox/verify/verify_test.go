package verify

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// attested is a repository whose newest commit, and others, have an attestation.
func attested(t testing.TB, others int) (repo git.Runner, key string) {
	t.Helper()
	repo, key = gittest.Repo(t), filepath.Join(t.TempDir(), "attest.key")
	private, err := attestation.OpenKey(key)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, repo, "commit", "-q", "--allow-empty", "-m", "work")
	ids := strings.Fields(gittest.Run(t, repo, "rev-parse", "HEAD", "HEAD^{tree}"))
	for n := range others + 1 {
		commit, tree := ids[0], ids[1]
		if n > 0 {
			commit, tree = fmt.Sprintf("%040x", n), fmt.Sprintf("%040x", n)
		}
		s := attestation.Statement{Type: attestation.StatementType, PredicateType: attestation.PredicateType, Subject: []attestation.Subject{
			{Digest: map[string]string{"gitCommit": commit}}, {Digest: map[string]string{"gitTree": tree}}}}
		envelope, err := attestation.Sign(s, private)
		if err == nil {
			err = repo.Keep(t.Context(), s.Ref(), envelope)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return repo, attestation.PublicFile(key)
}

func env(out io.Writer, in string) *term.Env {
	return &term.Env{Stdout: out, Stderr: out, Stdin: strings.NewReader(in), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

func TestTheAttestationIsFoundInTheDirectoryAndInStandardInput(t *testing.T) {
	repo, key := attested(t, 1)
	commit := gittest.Run(t, repo, "rev-parse", "HEAD")
	envelope := gittest.Run(t, repo, "cat-file", "blob", gittest.Run(t, repo, "for-each-ref", "--format=%(refname)", attestation.Refs+"*/"+commit))
	t.Chdir(repo.Dir())
	for name, c := range map[string]Command{
		"in the directory":            {Commit: "HEAD", Key: key},
		"in standard input":           {Commit: commit, Key: key, Attestation: "-"},
		"in both, for a known commit": {Commit: "HEAD", Key: key, Attestation: "-", Repository: "."},
	} {
		var out strings.Builder
		if err := c.Run(t.Context(), env(&out, envelope)); err != nil || !strings.HasPrefix(out.String(), commit+" is attested\n") {
			t.Errorf("%s: %v, %s", name, err, out.String())
		}
	}
}

func TestAKeyIsRotatedAndRevokedInTheFileOfKeys(t *testing.T) {
	repo, key := attested(t, 0)
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	_, newer, err := attestation.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	revoked := strings.ReplaceAll(string(text), "PUBLIC KEY", "REVOKED PUBLIC KEY")
	for _, c := range []struct{ name, file, says string }{
		{"the key that signed", string(text), ""},
		{"a newer key with it", string(newer) + string(text), ""},
		{"a newer key alone", string(newer), "no given key signed this attestation"},
		{"the key, revoked, and a newer one", string(newer) + revoked, "a revoked key signed this attestation"},
	} {
		file := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Command{Commit: "HEAD", Repository: repo.Dir(), Key: file}.Run(t.Context(), env(io.Discard, ""))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// BenchmarkVerify verifies a commit in a repository with 200 attestations.
func BenchmarkVerify(b *testing.B) {
	repo, key := attested(b, 199)
	for b.Loop() {
		if err := (Command{Commit: "HEAD", Repository: repo.Dir(), Key: key}).Run(b.Context(), env(io.Discard, "")); err != nil {
			b.Fatal(err)
		}
	}
}
