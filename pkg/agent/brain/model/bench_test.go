package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
)

// BenchmarkTurn measures what a turn costs beside the model: the request with its whole
// conversation, the stream, a tool, the transcript. The server's own time is in it. The
// conversations grow to 50 turns that read 8 KiB each.
func BenchmarkTurn(b *testing.B) {
	const turns = 50
	for _, provider := range model.Providers() {
		b.Run(provider, func(b *testing.B) {
			s := modeltest.New(b, func(r modeltest.Request) modeltest.Turn {
				if len(r.Calls) == turns-1 {
					return finish()
				}
				return modeltest.Calling("read", map[string]any{"path": "long.txt", "from": len(r.Calls) + 1})
			})
			cfg := model.Config{Provider: provider, Name: "m", URL: s.URL, Key: "key", Cards: model.Cards{{Name: "m", Window: 1_000_000}}}
			if provider != "anthropic" {
				cfg.URL += "/v1"
			}
			m, err := model.New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			dir := b.TempDir()
			var long []byte
			for i := range 160 {
				long = fmt.Appendf(long, "line %4d of a file that is read again and again\n", i)
			}
			if err := os.WriteFile(filepath.Join(dir, "long.txt"), long, 0o644); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			for b.Loop() {
				if _, err := m.Work(b.Context(), brain.Assignment{Role: "developer", Dir: dir}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(time.Since(began).Microseconds())/1e3/float64(b.N*turns), "ms/turn")
		})
	}
}
