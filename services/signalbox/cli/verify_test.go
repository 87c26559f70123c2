package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestACommitIsVerifiedFromTheFileAndTheKeyOrFromTheRepository(t *testing.T) {
	const id = "acme/widgets/7"
	server := worked(t, id)
	dir, repo := t.TempDir(), gittest.Repo(t)
	call := func(args string) (string, int) {
		var out bytes.Buffer
		env := term.Env{Stdout: &out, Stderr: &out, Stdin: strings.NewReader(""), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		code := Run(t.Context(), env, strings.Fields(strings.NewReplacer("DIR", dir, "REPO", repo.Dir()).Replace(args)))
		return out.String(), code
	}
	envelope, code := call("attest " + id + " --key DIR/key --repository REPO --nats " + server.URL)
	if code != 0 {
		t.Fatal(envelope)
	}
	must(t, os.WriteFile(filepath.Join(dir, "change.json"), []byte(envelope), 0o600))
	if said, code := call("attest " + id + " --nats " + server.URL); code != 1 || !strings.Contains(said, "has no key to sign with") {
		t.Errorf("an orchestrator without a key attests: %s", said)
	}
	if _, code := call("attest " + id + " --key DIR/other --nats " + server.URL); code != 0 {
		t.Fatal("a second key was not made")
	}
	name := gittest.Run(t, repo, "for-each-ref", "--format=%(refname:lstrip=2)", attestation.Refs)
	tree, commit, _ := strings.Cut(name, "/")
	// The work arrives squashed: another commit with the same files.
	nc := server.Connect(t)
	sys := system{Client: client.New(nc, "operator:ann"), nats: nc}
	in, err := sys.Get(t.Context(), id)
	must(t, err)
	must(t, withCode(t.Context(), sys, in, func(g git.Runner) error {
		_, err := g.Run(t.Context(), "push", "-q", repo.Dir(), commit+":refs/heads/work")
		return err
	}))
	squashed := gittest.Run(t, repo, "commit-tree", tree, "-m", "squashed")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{args: commit + " --attestation DIR/change.json --key DIR/key.pub", says: "is attested\n"},
		{args: commit + " --repository REPO --key DIR/key.pub", says: "instance  " + id},
		{args: commit + " --repository REPO --key DIR/key.pub --json", says: `"by_tree":false`},
		{args: squashed + " --repository REPO --key DIR/key.pub", says: "by its files: they are those of " + commit},
		{args: "work~1 --repository REPO --key DIR/key.pub", code: 1, says: "attested are " + commit},
		{args: tree + " --attestation DIR/change.json --key DIR/key.pub", code: 1, says: "the attestation is on commit " + commit},
		{args: commit + " --attestation DIR/change.json --key DIR/other.pub", code: 1, says: "no given key signed this attestation"},
		{args: commit + " --attestation DIR/change.json --key DIR/key.pub --require shown", code: 1, says: "does not meet shown"},
		{args: commit + " --attestation DIR/change.json --key DIR/key.pub --require approved-by=maintain", code: 1, says: "had no accounts"},
		{args: commit + " --attestation DIR/change.json --key DIR/key.pub --require shwn", code: 2, says: "want shown"},
		{args: commit + " --attestation DIR/change.json --key DIR/key", code: 2, says: "want Ed25519 keys"},
		{args: commit + " --key DIR/key.pub", code: 1, says: ". has no commit " + commit},
	} {
		if out, code := call("verify " + c.args); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("signalbox verify %s ended with %d, want %d and %q:\n%s", c.args, code, c.code, c.says, out)
		}
	}
	gittest.Run(t, repo, "update-ref", "-d", attestation.Refs+name)
	if out, code := call("verify work --repository REPO --key DIR/key.pub"); code != 1 || !strings.Contains(out, "has no attestations: git fetch origin") {
		t.Error(code, out)
	}
}
