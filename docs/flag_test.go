package docs_test

import (
	"flag"
	"maps"
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

// shared are the tables of flags that several services have, by their name: a flag is in the first that has it.
var shared = []struct {
	table    string
	services []string
}{
	{"common", []string{"orchestrator", "gateway", "pm", "committer", "shepherd", "git-manager", "plan-manager", "console", "notify", "developer"}},
	{"forge", []string{"gateway", "pm", "committer", "shepherd", "git-manager"}},
}

// TestTheTablesOfFlagsSayWhatTheBinariesSay compares the tables with the binaries' --help.
func TestTheTablesOfFlagsSayWhatTheBinariesSay(t *testing.T) {
	const file = "docs/flags.md"
	rows := map[string][]string{}
	for _, service := range shared[0].services {
		for _, f := range flags(t, service) {
			rows[service] = append(rows[service], f.row())
		}
	}
	for _, s := range shared {
		for _, row := range rows[s.services[0]] {
			if !slices.ContainsFunc(s.services, func(service string) bool { return !slices.Contains(rows[service], row) }) {
				rows[s.table] = append(rows[s.table], row)
			}
		}
		for _, service := range s.services {
			rows[service] = slices.DeleteFunc(rows[service], func(row string) bool { return slices.Contains(rows[s.table], row) })
		}
	}
	old := page(t, file)
	now := table.ReplaceAllStringFunc(old, func(block string) string {
		name := table.FindStringSubmatch(block)[1]
		text := "<!-- flags: " + name + " -->\n| flag | environment | |\n|---|---|---|\n" + strings.Join(rows[name], "\n") + "\n<!-- end -->\n"
		delete(rows, name)
		return text
	})
	if len(rows) > 0 {
		t.Fatalf("%s has no table of %v", file, slices.Sorted(maps.Keys(rows)))
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
	env         []string
	text        string
}

// escape makes a text a cell of a table: neither a column nor a tag begins in it.
var escape = strings.NewReplacer("|", `\|`, "<", `\<`)

func (f described) row() string {
	env := make([]string, len(f.env))
	for i, name := range f.env {
		env[i] = "`" + strings.TrimPrefix(name, "$") + "`"
	}
	return "| `--" + f.name + f.value + "` | " + strings.Join(env, ", ") + " | " + escape.Replace(f.text) + " |"
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
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := flagLine.FindStringSubmatch(line); m != nil {
			all = append(all, described{name: m[1], value: m[2], text: m[3]})
		} else if strings.HasPrefix(line, "   ") && len(all) > 0 {
			all[len(all)-1].text += " " + strings.TrimSpace(line)
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
