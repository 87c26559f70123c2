package archtest_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/signalbox/signalbox/pkg/testkit/archtest"
)

const module = "github.com/signalbox/signalbox"

func TestTheRepositoryKeepsItsRules(t *testing.T) {
	for _, v := range check(t, os.DirFS("../../..")) {
		t.Error(v)
	}
}

// Each archive in testdata is a small module and, in the file want, the
// violations planted in it.
func TestEachRuleFindsWhatBreaksItAndNothingElse(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree, want := fstest.MapFS{}, ""
			for _, f := range archive.Files {
				if f.Name == "want" {
					want = string(f.Data)
					continue
				}
				tree[f.Name] = &fstest.MapFile{Data: pad(f.Data)}
			}
			var got strings.Builder
			for _, v := range check(t, tree) {
				got.WriteString(v.String() + "\n")
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// padding is a line of an archive that stands for many empty ones.
var padding = regexp.MustCompile(`(?m)^\s*// and (\d+) lines\n`)

func pad(source []byte) []byte {
	return padding.ReplaceAllFunc(source, func(line []byte) []byte {
		n, _ := strconv.Atoi(string(padding.FindSubmatch(line)[1]))
		return bytes.Repeat([]byte("\n"), n)
	})
}

func TestSourceThatIsNoGoIsAnError(t *testing.T) {
	if _, err := archtest.Check(fstest.MapFS{"a.go": {Data: []byte("packet a")}}, module); err == nil {
		t.Error("there is no error")
	}
}

func check(t *testing.T, tree fs.FS) []archtest.Violation {
	t.Helper()
	violations, err := archtest.Check(tree, module)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}
