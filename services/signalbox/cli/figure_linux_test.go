package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// BenchmarkHistory reads a log of SIGNALBOX_EVENTS events, 20,000 by default: `make figures`. The log is on a
// server in this process, so its work counts, too.
func BenchmarkHistory(b *testing.B) {
	want := 20_000
	if text := os.Getenv("SIGNALBOX_EVENTS"); text != "" {
		want, _ = strconv.Atoi(text)
	}
	server, err := embedded.Start(embedded.Config{Dir: b.TempDir(), Sync: time.Minute, Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Shutdown)
	events := fill(b, server, want)
	dir := b.TempDir()
	for _, args := range []string{
		"audit",
		"audit --decisions",
		"whatif --policy max_iterations=3 --json",
		"export --jsonl",
		"export --csv",
		"backup " + filepath.Join(dir, "backup"),
	} {
		b.Run(strings.ReplaceAll(args, dir, ""), func(b *testing.B) {
			before := cpu(b)
			for b.Loop() {
				var out counted
				env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
				if code := Run(b.Context(), env, append(strings.Fields(args), "--nats", server.ClientURL())); code != 0 {
					b.Fatalf("%s ended with %d: %s", args, code, out.last)
				}
			}
			b.ReportMetric(float64(b.N*events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(events), "events")
			b.ReportMetric((cpu(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(peak(b), "peak-MB")
		})
	}
}

// BenchmarkAt shows an instance with 10,000 events as it was in the middle.
func BenchmarkAt(b *testing.B) {
	server, err := embedded.Start(embedded.Config{Dir: b.TempDir(), Sync: time.Minute, Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Shutdown)
	fillWith(b, server, 10_000, 5_600)
	orchestratortest.Start(b, server.ClientURL(), 1, orchestrator.Settings{AckWait: time.Minute})
	for b.Loop() {
		var out counted
		env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
		if code := Run(b.Context(), env, []string{"at", "over/0", "--seq", "2800", "--nats", server.ClientURL()}); code != 0 {
			b.Fatalf("it ended with %d: %s", code, out.last)
		}
	}
}

// fill fills the log of a server with instances of 10 commits, and returns the number of their events.
func fill(b *testing.B, server *embedded.Server, want int) int { return fillWith(b, server, want, 10) }

func fillWith(b *testing.B, server *embedded.Server, want, commits int) int {
	b.Helper()
	try := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	nc, err := server.Connect()
	try(err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	try(err)
	text, err := os.ReadFile("../bench/lifecycle/history.yaml")
	try(err)
	def, err := workflow.Load("history", text)
	try(err)
	kv, err := store.EnsureDefinitions(b.Context(), js, 1)
	try(err)
	_, err = kv.Put(b.Context(), def.Hash, def.Source())
	try(err)
	template, err := historyfill.Template(b.Context(), def, historyfill.Kind{Commits: commits, Ended: true})
	try(err)
	each := 0
	for _, c := range template {
		commit, err := wire.ToCommit(c)
		try(err)
		each += len(commit.Events)
	}
	log, err := store.Open(b.Context(), js, store.Config{Sync: time.Minute})
	try(err)
	try(historyfill.Fill(b.Context(), log, template, "over", max(want/each, 1), 128))
	try(log.Close(b.Context()))
	return max(want/each, 1) * each
}

// counted keeps the last bytes that were written to it.
type counted struct{ last []byte }

func (c *counted) Write(p []byte) (int, error) {
	c.last = append(c.last[:0], p[max(0, len(p)-500):]...)
	return len(p), nil
}

// peak returns the most memory that this process has had, in MB.
func peak(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(text, []byte("VmHWM:"))
	kb, err := strconv.Atoi(strings.Fields(string(after))[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}

// cpu returns the time that this process has computed.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
