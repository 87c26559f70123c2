package testrun

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Found is how Signalbox tests a repository, and how its dependencies are installed.
type Found struct {
	Tests     string   // the command of the tests; empty if none was found
	Source    string   // the file that the tests were found by; with hint set, the file that runs Tests
	Hint      bool     // Tests is a command of another program's configuration, and does not run by itself
	Programs  []string // that Tests starts, by name
	Install   string   // the command that installs the dependencies; empty if no file names them
	InstallBy string   // the file that names them
}

// Find looks for the tests of a tree as Detect does. It is no error if there are none.
func Find(tree fs.FS) (Found, error) {
	var found Found
	if way, ok := findInstall(tree); ok {
		found.Install, found.InstallBy = strings.Join(way.argv, " "), way.source
	}
	plan, err := Detect(tree)
	switch {
	case errors.Is(err, ErrNoTests):
		found.Tests, found.Source = hint(tree, runsTests.MatchString)
		found.Hint = found.Tests != ""
	case err != nil:
		return Found{}, err
	default:
		found.Tests, found.Source = plan.Command(), plan.Source
		for _, part := range append(plan.Parts, plan) {
			if len(part.Argv) > 0 && !strings.Contains(part.Argv[0], "/") && !slices.Contains(found.Programs, part.Argv[0]) {
				found.Programs = append(found.Programs, part.Argv[0])
			}
		}
	}
	return found, nil
}

// Draft returns the content of a ConfigFile to begin with. Commands that Signalbox finds by itself
// stand in comments, so that the file changes nothing until a person edits it. A command of
// another program's configuration is in force.
func (f Found) Draft() string {
	var b strings.Builder
	fmt.Fprint(&b, `# How Signalbox tests this repository. It reads this file on the commit that a change begins
# with, so a change cannot alter how it is judged: commit the file to the default branch.
# Remove the "#" of a line to set it. The commands are run by sh at the root, in a sandbox
# without a network.

`)
	switch {
	case f.Hint:
		fmt.Fprintf(&b, "# The tests. %s runs this command; nothing else was found.\ntest: {command: %q, timeout: 10m}\n", f.Source, f.Tests)
	case f.Tests != "":
		source := ""
		if f.Source != "" {
			source = " by " + f.Source
		}
		fmt.Fprintf(&b, "# The tests. Found%s, and run without this line; a line of your own replaces them.\n# test: {command: %q, timeout: 10m}\n", source, f.Tests)
	default:
		b.WriteString("# The tests. None were found: name the command that runs them.\n# test: {command: \"make check\", timeout: 10m}\n")
	}
	install := f.Install
	if install == "" {
		install = "sh scripts/prepare"
	}
	b.WriteString("\n# Makes a work tree ready before its tests. Hosts that it downloads from are permitted with --egress HOST.\n")
	if f.InstallBy != "" {
		fmt.Fprintf(&b, "# %s names the dependencies.\n", f.InstallBy)
	}
	fmt.Fprintf(&b, "# setup: {command: %q, timeout: 10m}\n", install)
	b.WriteString(`
# Checks in addition to the tests.
# lint: {command: "make lint"}
# type_check: {command: "make types"}

# Shows a change to its reviewers: it runs before and after the change, and decides nothing. With a
# port and a page, which the command serves, pictures of the page are made, too.
# demo: {command: "make demo", timeout: 1m}

# Variables of all these commands.
# env: {TZ: UTC}

# Files that decide whether a change is right, and that developers may not change, in addition
# to those whose names say so. product has files that are judged, whatever their names suggest.
# judges: ["check/**"]
# product: ["spec/**"]
`)
	return b.String()
}
