package testrun

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// obstacleKey is the key in the data of evidence whose tests could not run. Its value names
// the program, module or host that is missing, and the remedy.
const obstacleKey = "obstacle"

// absent is a program or a module that a run missed, or a host that it asked for.
type absent struct {
	kind string // program, module or host
	name string
	tool string // asked for it; empty: the plan's program
}

// absences match the messages about what is not there. The first group that matches is the
// name; tool is the program that prints the message.
var absences = []struct {
	kind, tool string
	message    *lazyregexp.Regexp
}{
	{"host", "npm", lazyregexp.New(`(?m)^npm (?:ERR!|error) .*getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (\S+?):?$`)},
	{"host", "", lazyregexp.New(`getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)`)},
	{"host", "go", lazyregexp.New(`(?m)^go: .*dial tcp: lookup ([\w.-]+)`)},
	{"host", "", lazyregexp.New(`dial tcp: lookup ([\w.-]+)`)},
	{"host", "", lazyregexp.New(`(?i)could(?: not|n't) resolve host(?:name)?:? '?([\w.-]+)`)},
	{"host", "pip", lazyregexp.New(`HTTPS?ConnectionPool\(host='([\w.-]+)', port=\d+\).*(?:NewConnectionError|NameResolutionError)`)},
	{"host", "", lazyregexp.New(`(?i)failed to (?:resolve|lookup address information)[^\n']*'([\w.-]+)'`)},
	{"host", "", lazyregexp.New(`UnknownHostException: ([\w.-]+)`)},
	{"module", "", lazyregexp.New(`No module named '?([A-Za-z_][\w.]*)'?`)},
	{"module", "", lazyregexp.New(`Cannot find (?:module|package) '((?:@[^'./][^'/]*/)?[^'./:@][^'/]*)`)},
	{"module", "go", lazyregexp.New(`(?m)^(?:go: |\S+\.go:\d+:\d+: )(?:no required module provides package |cannot find module providing package )?([^\s:;@]+\.[^\s:;@]+)(?:@\S+)?(?:[:;].*)?: (?:module lookup disabled by GOPROXY=off|.*missing go\.sum entry)`)},
	{"module", "go", lazyregexp.New(`(?m)no required module provides package ([^\s;:]+)`)},
	{"module", "cargo", lazyregexp.New("no matching package named `([^`]+)` found")},
	{"module", "bundler", lazyregexp.New(`(?m)^(?:Bundler::GemNotFound: )?Could not find (?:gem ')?([\w.-]+)\b.* in (?:any of the sources|(?:the )?locally|cached gems|rubygems repository)`)},
	{"module", "mvn", lazyregexp.New(`in offline mode and the artifact ([\w.-]+:[\w.:-]+) has not been downloaded`)},
	{"module", "gradle", lazyregexp.New(`(?:Could not resolve|No cached version of) ([\w.-]+:[\w.-]+:[\w.-]*\w)`)},
	{"module", "", lazyregexp.New(`cannot load such file -- ([^\s./][\w/-]*)`)},
	{"program", "", lazyregexp.New(`(?m)^(?:bwrap|sandbox): execvp (\S+): No such file or directory$`)},
	{"program", "", lazyregexp.New(`(?m)^(?:/bin/)?(?:ba|da)?sh: (?:line )?(?:\d+: )?([\w./+-]+): (?:command )?not found$`)},
	{"program", "", lazyregexp.New(`(?m)^(?:[\w./-]+): line \d+: ([\w./+-]+): command not found$`)},
	{"program", "make", lazyregexp.New(`(?m)^make(?:\[\d+\])?: ([\w./+-]+): No such file or directory$`)},
	{"program", "", lazyregexp.New(`(?m)^(?:/usr/bin/)?env: ['‘]?([\w./+-]+)['’]?: No such file or directory$`)},
	{"program", "", lazyregexp.New(`exec: "([^"]+)": executable file not found in \$PATH`)},
	{"program", "", lazyregexp.New(`spawn (\S+) ENOENT`)},
}

// shim matches the message of a version manager whose own files are not shown.
var shim = lazyregexp.New(`(?m)^(?:[\w./-]+: )?(?:line \d+: |\d+: )?(\S*/\.?(?:pyenv|rbenv|nvm|asdf|volta|sdkman|mise))/\S*: (?:No such file or directory|not found|cannot execute.*)$`)

// missed returns what the output says is missing. The output of a program that was not found
// is short, so the first message is the cause of the others.
func missed(out string) (absent, bool) {
	first, found := -1, absent{}
	for _, a := range absences {
		if m := a.message.FindStringSubmatchIndex(out); m != nil && (first < 0 || m[0] < first) {
			first, found = m[0], absent{a.kind, out[m[2]:m[3]], a.tool}
		}
	}
	return found, first >= 0
}

// Missing explains, for people, the output of a command that failed because a program, a
// module or a host was not there: its name, the program that asked for it, and the line that
// helps. It is empty if the output shows no such thing. mode is that of the sandbox, and dir
// has the tree.
func Missing(out string, plan Plan, dir string, mode sandbox.Mode) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "" // it is gone: the run says so
	}
	defer root.Close()
	tree := root.FS()
	if m := shim.FindStringSubmatch(out); m != nil {
		return fmt.Sprintf("a program in PATH is a shim of %s, whose files the sandbox does not show: --brain-read %s", m[1], m[1])
	}
	a, ok := missed(out)
	if !ok {
		return ""
	}
	asks := plan.program()
	if a.tool != "" {
		asks = a.tool
	}
	switch a.kind {
	case "host":
		if mode == sandbox.None || mode == "" {
			return fmt.Sprintf("%s asked for %s, which cannot be reached from here", asks, a.name)
		}
		return fmt.Sprintf("the sandbox has no network: %s asked for %s; allow it with --egress %s", asks, a.name, a.name)
	case "module":
		if dir := ownModule(tree, a.name); dir != "" {
			if file := unwritten(tree, dir, a.name); file != "" {
				return fmt.Sprintf("%s asks for the module %s; no file of the repository has it, and installing the package makes it: add to %s: "+
					"setup: {command: %q}", asks, a.name, ConfigFile, writes(file))
			}
			return fmt.Sprintf("%s asks for the module %s, which is the repository's own, in %s: add to %s: env: {PYTHONPATH: %s}",
				asks, a.name, dir, ConfigFile, dir)
		}
		return fmt.Sprintf("%s asks for the module %s, which is not installed. %s", asks, a.name, install(tree, a.name))
	}
	return fmt.Sprintf("%s asks for the program %s, which is not installed here. %s", asks, a.name, install(tree, a.name))
}

// ownModule returns the directory, relative to the root, from which a Python module of the
// repository can be imported; empty if it has no such module.
func ownModule(tree fs.FS, module string) string {
	top, _, _ := strings.Cut(module, ".")
	for _, dir := range []string{"src", "lib", "python", "."} {
		if exists(tree, path.Join(dir, top+".py")) || exists(tree, path.Join(dir, top, "__init__.py")) {
			return dir
		}
	}
	return ""
}

// unwritten returns the file of a Python module in a package of the repository that lies in
// dir, if the package has no such module; else empty.
func unwritten(tree fs.FS, dir, module string) string {
	file := path.Join(dir, strings.ReplaceAll(module, ".", "/"))
	if !strings.Contains(module, ".") || exists(tree, file+".py") || exists(tree, file) {
		return ""
	}
	return file + ".py"
}

// writes returns a command that writes a file as the installation of its package does:
// setuptools-scm and hatch-vcs write one with the version.
func writes(file string) string {
	if strings.Contains(path.Base(file), "version") {
		return fmt.Sprintf("echo '__version__ = version = \"0\"' > %s", file)
	}
	return "python3 -m pip install --no-deps --editable ."
}

// install returns how the dependencies of a tree are installed.
func install(tree fs.FS, name string) string {
	if way, ok := findInstall(tree); ok {
		return fmt.Sprintf("Install what %s names: add to %s: setup: {command: %q}, and allow the hosts of its registry with --egress HOST",
			way.source, ConfigFile, strings.Join(way.argv, " "))
	}
	return fmt.Sprintf("Install %s where the agents run, or let a command in %s install it first: setup: {command: \"…\"}, with --egress HOST%s",
		name, ConfigFile, installHint(tree, name))
}

// explainMissing adds to evidence of a run that failed what was missing, if no test passed.
func explainMissing(ev *instance.Evidence, out string, plan Plan, dir string, mode sandbox.Mode) {
	if ev.OK || ev.Passed > 0 || NothingTested(*ev) {
		return
	}
	why := Missing(out, plan, dir, mode)
	if why == "" {
		return
	}
	if ev.Data == nil {
		ev.Data = map[string]string{}
	}
	ev.Data[obstacleKey] = why
	if CouldNotRun(*ev) {
		_, rest, _ := strings.Cut(ev.Output, "\n")
		ev.Output = strings.TrimSuffix(couldNotRun+why+"\n"+rest, "\n")
	}
}
