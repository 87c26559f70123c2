package testrun

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// FuzzOutput holds that nothing that the tests of a repository print stops who reads it.
func FuzzOutput(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range append(files, "testdata/go.json") {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), true)
	}
	f.Add("=== 99999999999999999999 passed in 1s ===\n=== 99999999999999999999 passed in 1s ===\n", false)
	f.Fuzz(func(t *testing.T, out string, ended bool) {
		var events goEvents
		_, _ = events.Write([]byte(out))
		r := parse(&events, out, ended)
		if r.passed < 0 {
			t.Errorf("%d tests passed", r.passed)
		}
		_ = Signature(instance.Evidence{Name: "tests", Output: out})
	})
}
