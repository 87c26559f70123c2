package clis

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Intercept()
	os.Exit(m.Run())
}

func TestCodingCLIsThroughTheirPresets(t *testing.T) {
	dir := os.Getenv("SIGNALBOX_CLIS")
	if dir == "" {
		t.Skip("set SIGNALBOX_CLIS, or make clis")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	signalbox := filepath.Join(dir, "signalbox")
	if said, err := exec.Command("go", "build", "-o", signalbox, "..").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, said)
	}
	only, modes := strings.Fields(os.Getenv("SIGNALBOX_CLIS_ONLY")), strings.Fields(cmp.Or(os.Getenv("SIGNALBOX_CLIS_SANDBOX"), "bwrap landlock"))
	chosen := regexp.MustCompile(os.Getenv("SIGNALBOX_CLIS_CASES"))
	tab := newTable()
	t.Run("of", func(t *testing.T) { // until all are done
		for _, c := range clis() {
			if len(only) > 0 && !slices.Contains(only, c.name) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				in := c.install(t, dir)
				for _, mode := range modes {
					try := func(name string, want []string, run func(t *testing.T, signalbox string, in installed, mode string) sighting) {
						if !chosen.MatchString(name) {
							return
						}
						t.Run(mode+"/"+name, func(t *testing.T) {
							s := run(t, signalbox, in, mode)
							tab.add(name, c.name+" "+mode, s)
							if !s.ok {
								t.Errorf("%s %s after %s, want %s\n%s", s.outcome, s.note, s.took.Round(1e8), strings.Join(want, " or "), s.detail)
								if all := s.model.Requests(); len(all) > 0 {
									t.Logf("of %q its tools came to %.2000q", all[len(all)-1].Tools, all[len(all)-1].Results)
								}
							}
						})
					}
					for _, cs := range trials() {
						try(cs.name, cs.want, cs.run)
					}
					for _, cs := range repairs() {
						try(cs.name, []string{cs.want}, cs.run)
					}
				}
			})
		}
	})
	tab.write(t, filepath.Join(dir, "table.md"))
}
