package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// Programs of people lie in their homes, behind links.
func TestAProgramInAHomeStartsWhoeverHasInstalledIt(t *testing.T) {
	for name, c := range map[string]struct{ bin, link, file, beside string }{
		"npm with a prefix in the home": {".npm-global/bin", "../lib/node_modules/@acme/tool/bin/run.sh",
			".npm-global/lib/node_modules/@acme/tool/bin/run.sh", ".npm-global/lib/node_modules/left-pad/words"},
		"an installer with versions": {".local/bin", "../share/tool/versions/2.1/run.sh", ".local/share/tool/versions/2.1/run.sh", ".local/share/tool/versions/2.1/words"},
		"an absolute link":           {"bin", "", "tools/bin/run.sh", "tools/bin/words"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			put := func(name, text string) {
				path := filepath.Join(home, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			put(c.file, "#!/bin/sh\ncat "+filepath.Join(home, c.beside)+"\n")
			put(c.beside, "it works\n")
			put(c.bin+"/other", "")
			put(".ssh/id", "s3cret")
			link := c.link
			if link == "" {
				link = filepath.Join(home, c.file)
			}
			if err := os.Symlink(link, filepath.Join(home, c.bin, "tool")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("HOME", home)
			t.Setenv("PATH", filepath.Join(home, c.bin)+":"+os.Getenv("PATH"))
			confined(t, func(t *testing.T, s sandbox.Sandbox) {
				cmd := sh(t, "")
				cmd.Argv = []string{"tool"}
				if r := run(t, s, cmd); !r.OK() || string(r.Output) != "it works\n" {
					t.Errorf("%s: %s", r, r.Output)
				}
			})
		})
	}
}
