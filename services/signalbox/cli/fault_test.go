package cli

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// fault is damage of a store on disk.
type fault struct {
	name    string
	damage  func(t *testing.T, msgs string) // the directory of the log's blocks
	rebuilt bool                            // index.db is lost, too
	start   string                          // part of the error of a start; empty: it starts
	verify  string                          // the same with --verify
	audit   []string                        // parts of the output of audit
}

// The audit finds every fault and names the missing commits and their instances. A start
// refuses the faults that it can see.
func TestEveryFaultOfAStoreIsNoticed(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	copied := func(t *testing.T) string {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, f := range faults {
		name := f.name
		if f.rebuilt {
			name += ", and the index is lost"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := func() string {
				dir := copied(t)
				msgs := filepath.Join(dir, "log", "jetstream", "$G", "streams", "EVENTS", "msgs")
				f.damage(t, msgs)
				if f.rebuilt {
					if err := os.RemoveAll(filepath.Join(msgs, "index.db")); err != nil {
						t.Fatal(err)
					}
				}
				return dir
			}
			for _, verify := range []bool{false, true} {
				if verify && f.start != "" {
					continue // it does not start without --verify
				}
				want := map[bool]string{false: f.start, true: f.verify}[verify]
				err := startError(t, broken(), verify)
				t.Logf("start, --verify=%v: %v", verify, err)
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("a start with --verify=%v says %v, want %q", verify, err, want)
				}
			}
			var out bytes.Buffer
			env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
			if code := Run(t.Context(), env, []string{"audit", "--data", broken()}); code != 1 {
				t.Errorf("audit ended with %d", code)
			}
			t.Logf("audit:\n%s", out.String())
			contains(t, out.String(), f.audit...)
		})
	}
	t.Run("a sound one has none", func(t *testing.T) {
		t.Parallel()
		sound := copied(t)
		if err := startError(t, sound, true); err != nil {
			t.Error(err)
		}
		var out bytes.Buffer
		env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
		if code := Run(t.Context(), env, []string{"audit", "--data", sound}); code != 0 {
			t.Errorf("audit ended with %d:\n%s", code, out.String())
		}
		contains(t, out.String(), "commits      34 of 4 instances", "nothing missing")
	})
}

// A start from a snapshot does not see damage of old commits. The first query that reads
// them does, and nothing is appended from then on.
func TestAnOrchestratorThatFindsTheLogDamagedEnds(t *testing.T) {
	t.Parallel()
	dir := newStore(t)
	block("1", middle)(t, filepath.Join(dir, "log", "jetstream", "$G", "streams", "EVENTS", "msgs"))
	err := withOrchestrator(t, dir, false, func(ctx context.Context, nc *nats.Conn) {
		c := client.New(nc, "operator:bob")
		if _, err := c.History(ctx, "acme/widgets/1", 0); err == nil {
			t.Error("it told the history of a damaged instance")
		}
		<-ctx.Done()
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the client retries
		defer cancel()
		if _, err := c.Note(soon, "acme/widgets/3", "", "hm"); err == nil {
			t.Error("it went on")
		}
	})
	if err == nil || !strings.Contains(err.Error(), "the log is damaged: ") || !strings.Contains(err.Error(), "nothing more is appended, and `signalbox audit` shows more") {
		t.Errorf("it ended with %v", err)
	}
	var out bytes.Buffer
	env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
	if code := Run(t.Context(), env, []string{"audit", "--json", "--data", dir}); code != 1 {
		t.Errorf("audit ended with %d", code)
	}
	contains(t, out.String(), `"last":34,`)
}

// newStore returns the data of a stopped system: 34 commits of 4 instances in two blocks,
// the first one compressed, with a snapshot and a watermark.
func newStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	withOrchestrator(t, dir, false, func(_ context.Context, nc *nats.Conn) {
		c := client.New(nc, "operator:bob")
		text := make([]byte, 300_000)
		random := rand.NewChaCha8([32]byte{1})
		for i := range 34 {
			id := fmt.Sprintf("acme/widgets/%d", i%4+1)
			var err error
			if i < 4 {
				_, err = c.Open(t.Context(), "", "issue", id, instance.Issue{Title: "It breaks"})
			} else {
				_, _ = random.Read(text)
				for i, b := range text {
					text[i] = ' ' + b%90 // hard to compress
				}
				_, err = c.Note(t.Context(), id, "", fmt.Sprintf("note %d: %s", i+1, text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	return dir
}

// startError returns the error of an orchestrator that starts on a store.
func startError(t *testing.T, dir string, verify bool) error {
	return withOrchestrator(t, dir, verify, func(context.Context, *nats.Conn) {})
}

// withOrchestrator runs an orchestrator while f runs and returns its error.
func withOrchestrator(t *testing.T, dir string, verify bool, f func(context.Context, *nats.Conn)) error {
	t.Helper()
	server, err := embedded.Start(embedded.Config{Dir: filepath.Join(dir, "log"), Sync: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	s := orchestrator.Settings{Watermark: filepath.Join(dir, "watermark"), Verify: verify, AckWait: time.Minute, MaxDeliver: 50,
		Sync: time.Minute}
	return service.Serve(ctx, service.Config{
		Service: "orchestrator", Log: slog.New(slog.DiscardHandler), Options: []nats.Option{nats.InProcessServer(server)},
		Flags: service.Flags{Grace: time.Minute},
		Setup: func(ctx context.Context, h *service.Host) error {
			if err := s.Setup(ctx, h); err != nil {
				return err
			}
			h.Add("test", func(ctx context.Context) error { f(ctx, h.NATS); return nil })
			return nil
		},
	})
}

// block changes a block of the log: the first, or the last, which is not compressed.
func block(n string, change func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, msgs string) {
		t.Helper()
		name := filepath.Join(msgs, n+".blk")
		data, err := os.ReadFile(name)
		if err == nil {
			if data = change(data); data == nil {
				err = os.Remove(name)
			} else {
				err = os.WriteFile(name, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// flipped flips a bit at an offset from the first occurrence of a text.
func flipped(text string, offset int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[bytes.Index(b, []byte(text))+offset] ^= 1
		return b
	}
}

func middle(b []byte) []byte { b[len(b)/2] ^= 1; return b }
func length(b []byte) []byte { b[1] ^= 1; return b }
func half(b []byte) []byte   { return b[:len(b)/2] }
func cut(b []byte) []byte    { return b[:len(b)-100] }
func gone([]byte) []byte     { return nil }
func meta(change func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, msgs string) {
		t.Helper()
		name := filepath.Join(filepath.Dir(msgs), "meta.inf")
		data, err := os.ReadFile(name)
		if err == nil {
			if data = change(data); data == nil {
				err = os.Remove(name)
			} else {
				err = os.WriteFile(name, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func emptied(up int) func(*testing.T, string) {
	return func(t *testing.T, msgs string) {
		t.Helper()
		for range up {
			msgs = filepath.Dir(msgs)
		}
		if err := os.RemoveAll(msgs); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	cutShort = "a log cut short is there: identity"
	isGone   = "stream EVENTS is gone, want identity"
	all4     = "of acme/widgets/1, acme/widgets/2, acme/widgets/3, acme/widgets/4"
	lastOnes = "sequences 32 to 34 are missing, 3 commits, after 31 of acme/widgets/3, where the log ends; of acme/widgets/1, acme/widgets/2, acme/widgets/4"
	allOfIt  = "sequences 1 to 34 are missing, 34 commits, which is all of the log; "
	oldOnes  = "sequences 1 to 31 are missing, 31 commits, between the beginning and 32 of acme/widgets/4; of acme/widgets/1, acme/widgets/2"
	one32    = "sequence 32 is missing, between 31 of acme/widgets/3 and 33 of acme/widgets/1; of acme/widgets/4"
	hurt32   = "acme/widgets/4: it follows 28, which is missing"
)

// A start from a snapshot reads only the rest of the log.
var faults = []fault{
	{"a byte of an old block", block("1", middle), false, "", "sequences 1 to 31 are missing", []string{oldOnes, hurt32}},
	{"a byte of an old block", block("1", middle), true, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"a byte of a payload", block("2", flipped("note 32:", 20)), false, "", "sequences 32 to 32 are missing", []string{one32}},
	{"a byte of a payload", block("2", flipped("note 32:", 20)), true, cutShort, cutShort, []string{lastOnes}},
	{"a byte of a header", block("2", flipped("Sb-Chain", 14)), false, "", "sequences 32 to 32 are missing", []string{one32}},
	{"a byte of a header", block("2", flipped("Sb-Chain", 14)), true, cutShort, cutShort, []string{lastOnes}},
	{"a byte of a record's length", block("2", length), false, cutShort, cutShort, []string{lastOnes}},
	{"a byte of a record's length", block("2", length), true, cutShort, cutShort, []string{lastOnes}},
	{"the end of the last block", block("2", cut), false, "has 33 commits, sequences 1 to 34, want 34 from 1; missing [34]", "missing [34]",
		[]string{"sequence 34 is missing, after 33 of acme/widgets/1, where the log ends; of acme/widgets/2"}},
	{"the end of the last block", block("2", cut), true, cutShort, cutShort,
		[]string{"sequence 34 is missing, after 33 of acme/widgets/1, where the log ends; of acme/widgets/2"}},
	{"half of an old block", block("1", half), false, "", "sequences 1 to 31 are missing", []string{oldOnes, hurt32}},
	{"half of an old block", block("1", half), true, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"an old block", block("1", gone), false, "has 3 commits, sequences 32 to 34, want 34 from 1", "has 3 commits", []string{oldOnes, hurt32}},
	{"an old block", block("1", gone), true, "has 3 commits, sequences 32 to 34, want 34 from 1", "has 3 commits", []string{oldOnes, hurt32}},
	{"the last block", block("2", gone), false, "has 31 commits, sequences 1 to 34, want 34 from 1; missing [32 33 34]", "missing [32 33 34]",
		[]string{lastOnes}},
	{"the last block", block("2", gone), true, cutShort, cutShort, []string{lastOnes}},
	{"the stream's meta", meta(gone), false, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"a byte of the stream's meta", meta(middle), false, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"the stream", emptied(1), false, isGone, isGone, []string{isGone, allOfIt + all4}},
	{"the whole store", emptied(4), false, isGone, isGone, []string{isGone, allOfIt + "their instances are unknown"}},
}
