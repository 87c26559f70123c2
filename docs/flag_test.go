package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of flags again")

// table matches the table of a service's flags on a page: the lines between these
// comments.
var table = regexp.MustCompile(`(?s)<!-- flags: ([\w-]+) -->\n.*?<!-- end -->\n`)

// TestTheTablesOfFlagsSayWhatTheBinariesSay compares the tables with the binaries'
// --help. Flags that every service has are in one table, read from the
// orchestrator.
const common = "common"

func TestTheTablesOfFlagsSayWhatTheBinariesSay(t *testing.T) {
	const file = "docs/operations.md"
	shared := map[string]bool{}
	for _, f := range flags(t, "orchestrator") {
		shared[f.name] = f.group != ""
	}
	old := page(t, file)
	found := 0
	now := table.ReplaceAllStringFunc(old, func(block string) string {
		found++
		name := table.FindStringSubmatch(block)[1]
		service := strings.Replace(name, common, "orchestrator", 1)
		rows := []string{"<!-- flags: " + name + " -->", "| flag | environment | |", "|---|---|---|"}
		for _, f := range flags(t, service) {
			if shared[f.name] == (name == common) {
				rows = append(rows, f.row())
			}
		}
		return strings.Join(append(rows, "<!-- end -->", ""), "\n")
	})
	if found == 0 {
		t.Fatal("there are no tables of flags")
	}
	if now == old {
		return
	}
	if !*update {
		t.Fatalf("%s is not current: go test ./docs -run Flags -update", file)
	}
	if err := os.WriteFile(filepath.Join(root, file), []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

type described struct {
	name, value string // --name, and =VALUE
	group       string // heading of the help; empty for a service's own flags
	env         []string
	text        string
}

func (f described) row() string {
	env := make([]string, len(f.env))
	for i, name := range f.env {
		env[i] = "`" + strings.TrimPrefix(name, "$") + "`"
	}
	return "| `--" + f.name + f.value + "` | " + strings.Join(env, ", ") + " | " + strings.ReplaceAll(f.text, "|", "\\|") + " |"
}

var (
	flagLine = regexp.MustCompile(`^ +(?:-\w, )?--((?:\[no-\])?[a-z-]+)(=\S+)?(?: {2,}(.*))?$`)
	envs     = regexp.MustCompile(` ?\((\$[A-Z_, $]+)\)\.?`)
)

func flags(t *testing.T, service string) []described {
	t.Helper()
	text, err := help(t, binary(t, service))
	if err != nil {
		t.Fatalf("%s --help: %v\n%s", service, err, text)
	}
	return readHelp(text)
}

// readHelp returns the flags in a help text, without --help itself.
func readHelp(text string) []described {
	var all []described
	group := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := flagLine.FindStringSubmatch(line); m != nil {
			all = append(all, described{name: m[1], value: m[2], group: group, text: m[3]})
		} else if strings.HasPrefix(line, "   ") && len(all) > 0 {
			all[len(all)-1].text += " " + strings.TrimSpace(line)
		} else if line != "" && line != "Flags:" && !strings.Contains(line, " ") {
			group = line
		}
	}
	for i := range all {
		f := &all[i]
		if m := envs.FindStringSubmatch(f.text); m != nil {
			f.env = strings.Split(m[1], ", ")
		}
		f.text = strings.TrimSpace(envs.ReplaceAllString(f.text, ""))
	}
	return slices.DeleteFunc(all, func(f described) bool { return f.name == "help" })
}
