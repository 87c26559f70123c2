package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/signalbox/signalbox/pkg/archtest"
)

const module = "github.com/signalbox/signalbox"

func TestTheRepositoryKeepsItsRules(t *testing.T) {
	for _, v := range check(t, os.DirFS("../..")) {
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
				tree[f.Name] = &fstest.MapFile{Data: f.Data}
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

func TestAFileOfSeveralConceptsIsTooLong(t *testing.T) {
	source := func(lines int) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package a\n" + strings.Repeat("\n", lines-1))}
	}
	got := check(t, fstest.MapFS{"pkg/a/long.go": source(301), "pkg/a/enough.go": source(300)})
	if len(got) != 1 || got[0].File != "pkg/a/long.go" || got[0].Line != 301 || got[0].Rule != "size" {
		t.Errorf("violations are %v", got)
	}
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
