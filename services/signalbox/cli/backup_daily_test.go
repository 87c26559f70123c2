package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestADayIsKeptWhenItsRestoreWasRehearsed(t *testing.T) {
	t.Parallel()
	kept := t.TempDir()
	for _, day := range []string{"2026-01-01", "2026-01-02", "2026-01-03", "other"} {
		if err := os.MkdirAll(filepath.Join(kept, day), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	server := natstest.Start(t, natstest.Options{})
	stop := orchestrate(t, server.URL)
	opened(t, server.Connect(t), "a/works")
	contains(t, runCLI(t, 1, "backup", kept, "--fresh", "1h"), "no whole backup of a day yet")
	out := runCLI(t, 0, "backup", kept, "--keep", "2", "--rehearse", "--nats", server.URL)
	contains(t, out, "new are the sequences 1 to 1", "restored", "nothing missing", "removed "+filepath.Join(kept, "2026-01-01"), "2026-01-02")
	today := time.Now().UTC().Format(time.DateOnly)
	if got := names(t, kept); !slices.Equal(got, []string{"2026-01-03", today, "newest", "other"}) {
		t.Errorf("it keeps %v", got)
	}
	runCLI(t, 0, "backup", kept, "--fresh", "1h")
	later := term.Env{Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Now: func() time.Time { return time.Now().Add(2 * time.Hour) }}
	if code := Run(t.Context(), later, []string{"backup", kept, "--fresh", "1h"}); code != 1 {
		t.Errorf("a backup of two hours ago ends with %d", code)
	}

	stop()
	chunk := filepath.Join(kept, today, "log", "000000000001-000000000001.jsonl.gz")
	if err := os.Truncate(chunk, 10); err != nil {
		t.Fatal(err)
	}
	runCLI(t, 1, "backup", kept, "--keep", "1", "--rehearse", "--nats", server.URL)
	if got := names(t, kept); !slices.Contains(got, "2026-01-03") {
		t.Errorf("after a damaged backup it keeps %v", got)
	}
}

func TestABackupIsRepeatedUntilItIsStopped(t *testing.T) {
	t.Parallel()
	kept := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var out tries
	out.tried = func(n int) {
		if n == 2 {
			stop()
		}
	}
	env := term.Env{Stdout: new(bytes.Buffer), Stderr: &out, Now: time.Now}
	if code := Run(ctx, env, []string{"backup", kept, "--keep", "1", "--every", "1ms", "--nats", "nats://127.0.0.1:1"}); code != 0 {
		t.Errorf("it ends with %d: %s", code, out.String())
	}
	contains(t, out.String(), "no whole backup: ", "the next try is in 1ms")
	runCLI(t, 2, "backup", kept, "--every", "1h")
}

// tries counts the failures that are printed.
type tries struct {
	bytes.Buffer
	tried func(n int)
}

func (w *tries) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	w.tried(strings.Count(w.String(), "no whole backup"))
	return n, err
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
