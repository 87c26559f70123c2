package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// runCLI runs a command that has to end with code. It returns all output.
func runCLI(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
	if got := Run(t.Context(), env, args); got != code {
		t.Errorf("%v ended with %d, want %d:\n%s", args, got, code, out.String())
	}
	return out.String()
}

func TestWorkGoesOnFromABackup(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	from := natstest.Start(t, natstest.Options{})
	stop := orchestrate(t, from.URL)
	nc := from.Connect(t)
	c := opened(t, nc, "a/works")
	if _, err := claim(t.Context(), nc, "pm", "a/works"); err != nil {
		t.Fatal(err)
	}
	contains(t, runCLI(t, 0, "backup", dir, "--nats", from.URL), "new are the sequences 1 to 2", "2 commits in 1 chunk")
	opened(t, nc, "a/ended")
	if _, err := c.Override(t.Context(), "a/ended", "completed", "by hand"); err != nil {
		t.Fatal(err)
	}
	contains(t, runCLI(t, 0, "backup", dir, "--nats", from.URL), "new are the sequences 3 to 4")
	contains(t, runCLI(t, 0, "backup", dir, "--nats", from.URL), "nothing new")
	contains(t, runCLI(t, 0, "backup", dir, "--verify"), "4 commits in 2 chunks", "whole")
	contains(t, runCLI(t, 1, "restore", dir, "--nats", from.URL), "an orchestrator runs at")
	stop()
	contains(t, runCLI(t, 1, "restore", dir, "--nats", from.URL), "there is a log already: stream EVENTS has 4 commits")

	t.Run("on another server", func(t *testing.T) {
		to := natstest.Start(t, natstest.Options{})
		contains(t, runCLI(t, 0, "restore", dir, "--nats", to.URL), "4 commits in 2 chunks", "restored")
		goesOn(t, to)
	})
	t.Run("in a directory", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		contains(t, runCLI(t, 0, "restore", dir, "--data", data), "restored")
		contains(t, runCLI(t, 0, "audit", "--data", data), "4 of 2 instances", "nothing missing")
		contains(t, runCLI(t, 0, "show", "a/works", "--data", data), "received")
		if err := withOrchestrator(t, data, true, func(ctx context.Context, nc *nats.Conn) { finish(t, nc) }); err != nil {
			t.Error(err)
		}
		contains(t, runCLI(t, 0, "audit", "--data", data), "nothing missing")
		contains(t, runCLI(t, 0, "backup", dir, "--data", data), "new are the sequences 5 to")
	})
	t.Run("not from one that is damaged", func(t *testing.T) {
		chunk := filepath.Join(dir, "log", "000000000003-000000000004.jsonl.gz")
		b, err := os.ReadFile(chunk)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(chunk, b, 0o600); err != nil {
			t.Fatal(err)
		}
		to := natstest.Start(t, natstest.Options{})
		contains(t, runCLI(t, 1, "restore", dir, "--nats", to.URL),
			"the backup is damaged: log/000000000003-000000000004.jsonl.gz has the SHA-256", "nothing was written")
		contains(t, runCLI(t, 1, "audit", "--nats", to.URL), "there is no log")
		contains(t, runCLI(t, 1, "backup", dir, "--verify"), "log/000000000003-000000000004.jsonl.gz")
	})
	contains(t, runCLI(t, 1, "backup", t.TempDir(), "--verify"), "there is no backup in")
}

// goesOn checks that an orchestrator continues a restored log.
func goesOn(t *testing.T, server *natstest.Server) {
	t.Helper()
	contains(t, runCLI(t, 0, "audit", "--nats", server.URL), "4 of 2 instances", "nothing missing")
	stop := orchestrate(t, server.URL)
	finish(t, server.Connect(t))
	stop()
	var found struct {
		Commits, Instances int
		Violations         []any
		Missing            []any
	}
	if err := json.Unmarshal([]byte(runCLI(t, 0, "audit", "--json", "--nats", server.URL)), &found); err != nil {
		t.Fatal(err)
	}
	if found.Commits < 6 || found.Instances != 2 || found.Violations == nil || len(found.Violations) > 0 || found.Missing == nil {
		t.Errorf("the audit says %+v", found)
	}
}

// finish reports with the claim that was made before the backup.
func finish(t *testing.T, nc *nats.Conn) {
	t.Helper()
	c := client.New(nc, "operator:bob")
	if _, err := claim(t.Context(), nc, "pm", "a/works"); err != nil {
		t.Fatal(err)
	}
	if err := claimAndReport(t.Context(), nc, "pm", "a/works", `{"status":"success","summary":"It is a bug."}`); err != nil {
		t.Fatal(err)
	}
	in, err := c.Get(t.Context(), "a/works")
	if err != nil || in.GetState() == "received" {
		t.Fatalf("it is in %s, %v", in.GetState(), err)
	}
	if _, err := c.Override(t.Context(), "a/works", "completed", "by hand"); err != nil {
		t.Fatal(err)
	}
}

// A message of another program is a finding, goes into a backup and comes back, and stops neither.
func TestTheAuditNamesAMessageThatIsNoCommit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	from, to := natstest.Start(t, natstest.Options{}), natstest.Start(t, natstest.Options{})
	stop := orchestrate(t, from.URL)
	nc := from.Connect(t)
	opened(t, nc, "a/works")
	if _, err := nc.Request("sb.evt.note.issue.received.a/works", []byte("\x1b[2Jhm"), time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(t.Context(), nc, "pm", "a/works"); err != nil {
		t.Fatal(err)
	}
	opened(t, nc, "a/ended")
	stop()
	const named = `2  alien       a message on "sb.evt.note.issue.received.a/works" that is no commit is set aside: 6 bytes, there since 2`
	contains(t, runCLI(t, 1, "audit", "--nats", from.URL), named, `: "\x1b[2Jhm"`, "3 of 2 instances", "the log has 1 violation")
	contains(t, runCLI(t, 0, "backup", dir, "--nats", from.URL), "new are the sequences 1 to 4")
	contains(t, runCLI(t, 0, "backup", dir, "--verify"), "whole")
	contains(t, runCLI(t, 0, "restore", dir, "--nats", to.URL), "restored")
	contains(t, runCLI(t, 1, "audit", "--nats", to.URL), named, "the log has 1 violation")
	orchestrate(t, to.URL)
	finish(t, to.Connect(t))
}
