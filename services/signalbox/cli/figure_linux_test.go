package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// BenchmarkHistory reads a log of SIGNALBOX_EVENTS events, 20,000 by default: `make figures`. The command is a process of
// its own; the server is in this one.
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
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(dir, "signalbox")
	if err := os.Symlink(self, program); err != nil {
		b.Fatal(err)
	}
	for _, args := range []string{
		"audit",
		"audit --decisions",
		"whatif --policy max_iterations=3 --json",
		"export --jsonl",
		"export --csv",
		"backup " + filepath.Join(dir, "backup"),
	} {
		b.Run(strings.ReplaceAll(args, dir, ""), func(b *testing.B) {
			var peak, computed float64
			for b.Loop() {
				var out counted
				c := exec.CommandContext(b.Context(), program, append(strings.Fields(args), "--nats", server.ClientURL())...)
				c.Stdout, c.Stderr = &out, &out
				c.Env = append(os.Environ(), statusFile+"="+filepath.Join(dir, "status"))
				if err := c.Run(); err != nil {
					b.Fatalf("%s: %v: %s", args, err, out.last)
				}
				peak = max(peak, mostMemory(b, filepath.Join(dir, "status")))
				computed += (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
			}
			b.ReportMetric(float64(b.N*events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(events), "events")
			b.ReportMetric(computed/float64(b.N), "cpu-s/op")
			b.ReportMetric(peak, "peak-MB")
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

// mostMemory returns the most memory that a process had, in MB, from the status that it left.
func mostMemory(b *testing.B, file string) float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kb, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}
