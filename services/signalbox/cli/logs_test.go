package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/git"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// worked runs a system in which a developer has changed the code in two steps, the first
// of which failed, and kept what was said.
func worked(t *testing.T, id string) *natstest.Server {
	t.Helper()
	server, ctx := start(t), t.Context()
	opened, err := store.OpenObjects(ctx, server.JetStream(t), store.ObjectBucket)
	must(t, err)
	objects := kept{opened}
	repo := git.New(t.TempDir()).WithIdentity("ann", "ann@example.test")
	must(t, os.WriteFile(filepath.Join(repo.Dir(), "sum.go"), []byte("package sum\n"), 0o600))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		_, err := repo.Run(ctx, args...)
		must(t, err)
	}
	cache, err := workspace.New(workspace.Config{Dir: t.TempDir(), Objects: objects})
	must(t, err)
	base, first, err := cache.Snapshot(ctx, "acme/widgets", workspace.Remote{URL: repo.Dir()}, "main")
	must(t, err)

	nc := server.Connect(t)
	c := client.New(nc, "operator:ann")
	_, err = c.OpenWith(ctx, "", id, &pb.Open{Workflow: "issue", Issue: wire.Issue(instance.Issue{Title: "t"}), Base: base, Bundle: first})
	must(t, err)
	_, err = c.Override(ctx, id, "implementing", "to begin with")
	must(t, err)
	report := func(r *pb.Result) {
		token, err := claim(ctx, nc, "developer", id)
		must(t, err)
		_, err = client.New(nc, "developer-1").DoAs(ctx, "developer", subject.Report, &pb.Command{Instance: id, Action: &pb.Command_Report{
			Report: &pb.Report{Token: token, Result: r}}})
		must(t, err)
	}
	must(t, objects.Put(ctx, "artifact/asked", strings.NewReader("Mend the sum.")))
	must(t, objects.Put(ctx, "artifact/said", strings.NewReader("I \x1b[31mtried\x1b[0m\n")))
	report(&pb.Result{Status: "failure", Summary: "it does not build", Artifacts: []*pb.Artifact{
		{Name: "implementing.prompt", Object: "artifact/asked"}, {Name: "implementing.log", Object: "artifact/said"}}})
	head, bundles := base, []string{first}
	for _, file := range []string{"one.go", "two.go"} {
		tree, err := cache.Checkout(ctx, workspace.Spec{Repo: "acme/widgets", Base: base, Head: head, Bundles: bundles})
		must(t, err)
		must(t, os.WriteFile(filepath.Join(tree.Dir, file), []byte("package sum // "+file+"\n"), 0o600))
		head, _, err = tree.Commit(ctx, "add "+file)
		must(t, err)
		bundle, err := tree.Bundle(ctx)
		must(t, err)
		must(t, tree.Close())
		bundles = append(bundles, bundle)
		report(&pb.Result{Status: "success", ConfidenceScore: 0.7, Summary: "added " + file, Head: head, Bundle: bundle})
		_, err = c.Override(ctx, id, "fixing_issues", "once more")
		must(t, err)
	}
	return server
}

// kept are the objects of a log, for a workspace.
type kept struct{ store.Objects }

// Put implements workspace.Objects.
func (k kept) Put(ctx context.Context, name string, r io.Reader) error {
	_, err := k.Objects.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	return err
}

// Get implements workspace.Objects.
func (k kept) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	return k.Objects.Get(ctx, name)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasSaidAndChangedInEachStepIsShown(t *testing.T) {
	const id = "acme/widgets/7"
	server := worked(t, id)
	for _, c := range []struct {
		args string
		code int
		says string
		not  string // what the output has not
	}{
		{args: "logs " + id, says: "implementing 1 developer developer-1 failure", not: "\x1b["},
		{args: "logs " + id, says: "── implementing.prompt\n  Mend the sum.\n── implementing.log\n  I ‹U+001B›[31mtried"},
		{args: "logs " + id, says: "fixing_issues 2 developer developer-1 success"},
		{args: "logs --state fixing_issues " + id, says: "added two.go", not: "Mend the sum."},
		{args: "logs --state fixing_issues --attempt 1 " + id, says: "added one.go", not: "added two.go"},
		{args: "logs --json " + id, says: `"texts":[{"name":"implementing.prompt","text":"Mend the sum."}`},
		{args: "logs --state running_tests " + id, code: 1, says: "no such step; there are implementing (1), fixing_issues (2)"},
		{args: "logs --attempt=-1 " + id, code: 2, says: "want 1 for the first step"},
		{args: "logs acme/widgets/8", code: 1, says: "no such instance"},
		{args: "diff " + id, says: "+package sum // one.go"},
		{args: "diff " + id, says: "+package sum // two.go", not: "package sum\n"},
		{args: "diff --attempt 1 " + id, says: "+package sum // one.go", not: "two.go"},
		{args: "diff --attempt 2 " + id, says: "+package sum // two.go", not: "one.go"},
		{args: "diff --attempt 3 " + id, code: 1, says: "no such change: there are 2"},
		{args: "diff --json " + id, says: `"diff":" one.go | 1 +`},
		{args: "diff --from 1 " + id, says: "state\n  - \"received\"\n  + \"fixing_issues\"\n", not: "+package sum\n"},
		{args: "diff --from 1 " + id, says: "+package sum // two.go"},
		{args: "diff --from 1 " + id, says: "artifacts\n  + name: \"", not: "[{"},
		{args: "diff --from 1 --to 2 " + id, says: "from commit 1 to 2\n", not: "code from"},
		{args: "diff --from 1 --json " + id, says: `"fields":[{"field":"artifacts","before":[],"after":[{`},
		{args: "diff --from 999 " + id, code: 1, says: "has no commit after 999; its newest is "},
		{args: "diff --to 2 " + id, code: 2, says: "want --from SEQ"},
		{args: "diff --from 2 --to 1 " + id, code: 2, says: "a later --to"},
		{args: "replay --speed 0 " + id, says: "implementing → "},
		{args: "replay --speed 1e6 --all " + id, says: "claimed"},
		{args: "replay --speed=-1 " + id, code: 2, says: "want 60 for a minute a second"},
	} {
		var out bytes.Buffer
		env := term.Env{Stdout: &out, Stderr: &out, Stdin: strings.NewReader(""), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		code := Run(t.Context(), env, append(strings.Fields(c.args), "--nats", server.URL))
		if code != c.code || !strings.Contains(out.String(), c.says) || c.not != "" && strings.Contains(out.String(), c.not) {
			t.Errorf("signalbox %s ended with %d, want %d and %q, not %q:\n%s", c.args, code, c.code, c.says, c.not, out.String())
		}
	}
}
