package testrun

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

// hintFiles are the files in which a repository says, for other programs, how it is built and
// tested. They are read for messages to people, and nothing of them runs.
var hintFiles = []string{".github/workflows/*.yml", ".github/workflows/*.yaml", ".gitlab-ci.yml", ".circleci/config.yml", ".travis.yml", "azure-pipelines.yml",
	".devcontainer/devcontainer.json", ".devcontainer.json"}

// hintKeys are the keys of their commands.
var hintKeys = []string{"run", "script", "before_script", "install", "command", "onCreateCommand", "postCreateCommand"}

var (
	comment = lazyregexp.New(`(?m)^\s*//.*$`)
	// plain matches a command that a message can repeat in quotes and people can copy.
	plain = lazyregexp.New(`^[\w ./:=@+,&|;~'-]{1,160}$`)
	// installsSystem matches a call of a package manager of systems.
	installsSystem = lazyregexp.New(`\b(?:apt-get|apt|apk|dnf|yum|brew|pacman|zypper)\b.* (?:install|add|-S\w*)\b`)
)

// hint returns the first command in these files that is wanted, and the file; both are empty
// if there is none.
func hint(tree fs.FS, wanted func(command string) bool) (command, file string) {
	for _, pattern := range hintFiles {
		found, _ := fs.Glob(tree, pattern)
		for _, name := range found {
			content := text(tree, name)
			if strings.HasSuffix(name, ".json") {
				content = comment.ReplaceAllString(content, "")
			}
			var doc any
			if yamltext.Unmarshal([]byte(content), &doc) != nil {
				continue
			}
			for _, line := range commands(doc, false) {
				if line = strings.TrimSpace(line); plain.MatchString(line) && wanted(line) {
					return line, name
				}
			}
		}
	}
	return "", ""
}

// commands returns the lines of the commands in a document. given means that it is the value of
// a key of commands.
func commands(doc any, given bool) (lines []string) {
	switch v := doc.(type) {
	case string:
		if given {
			return strings.Split(v, "\n")
		}
	case []any:
		for _, item := range v {
			lines = append(lines, commands(item, given)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			lines = append(lines, commands(v[key], given || slices.Contains(hintKeys, key))...)
		}
	}
	return lines
}

// installHint returns the command of such a file that installs a program, and the file, for people.
func installHint(tree fs.FS, program string) string {
	command, file := hint(tree, func(command string) bool {
		return installsSystem.MatchString(command) && slices.Contains(strings.Fields(command), program)
	})
	if command == "" {
		return ""
	}
	return "; " + file + " runs: " + command
}
