package testrun

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// unreachable matches what package managers print about dependencies that are to be
// had from a network alone.
var unreachable = lazyregexp.New(`(?im)^.*(?:` + strings.Join([]string{
	`module lookup disabled by GOPROXY=off`, `dial tcp: lookup \S+`, // go
	`\bE(?:NOTFOUND|AI_AGAIN|NOTCACHED)\b`, `Cannot find (?:module|package) '[^'./]`, // npm, node
	`failed to download`, `Couldn't resolve host`, // cargo
	`Temporary failure in name resolution`, `No matching distribution found`, `ModuleNotFoundError: No module named`, // pip, python
}, "|") + `).*$`)

// longSocket matches what languages print of a Unix socket whose path is too long: 107 bytes
// is the most that Linux takes.
var longSocket = lazyregexp.New(`(?im)^.*(?:` + strings.Join([]string{
	`AF_UNIX path too long`, `listen unix \S+: bind: invalid argument`, // python, go
	`listen E(?:INVAL|NAMETOOLONG): .*\.sock`, `path must be shorter than SUN_LEN`, // node, rust
	`Unix domain path too long`, `too long unix socket path`, // java, ruby
}, "|") + `).*$`)

// Obstacle returns what kept the tests from running at all on code that nobody has
// changed, and what would help: a sentence or two. It is empty if they ran, however they
// ended.
func Obstacle(ev instance.Evidence) string {
	first, _, _ := strings.Cut(ev.Output, "\n")
	refused := strings.ReplaceAll(ev.Data["refused"], "\n", ", ")
	switch {
	case ev.OK || ev.Passed > 0:
		return ""
	case NothingTested(ev):
		return ev.Data[nothingTested] + ". Say in " + ConfigFile + " how the tests are run: test: {command: \"…\"}" +
			", or let the policy ask for no tests: require_tests: false"
	case ev.Data[obstacleKey] != "" && refused == "":
		return ev.Data[obstacleKey]
	case CouldNotRun(ev) && strings.HasSuffix(first, notInstalled):
		return strings.TrimPrefix(first, couldNotRun) + ". Install it where the agents run, or let a command in " + ConfigFile +
			" install it first: test: {command: \"…\"}"
	case CouldNotRun(ev):
		return strings.TrimPrefix(first, couldNotRun)
	case refused != "":
		return "the sandbox let nothing out to " + refused + ". Fetch beforehand what the tests need, or allow the host: --egress HOST"
	case strings.HasPrefix(ev.Output, stopped):
		return first + ". Set another limit in " + ConfigFile + ": test: {command: \"…\", timeout: 30m}"
	}
	if said := unreachable.FindString(ev.Output); said != "" {
		return "a dependency is missing: " + strings.TrimSpace(said) +
			". Fetch it where the agents run, or let a command in " + ConfigFile + " fetch it first, with --egress HOST"
	}
	if said := longSocket.FindString(ev.Output); said != "" {
		return "the path of a Unix socket is longer than the 107 bytes that the system takes: " + strings.TrimSpace(said) +
			". Keep work trees in a directory with a shorter path, XDG_CACHE_HOME for up and resolve or --work-dir for a service, " +
			"or let the tests make their sockets below TMPDIR"
	}
	return ""
}

// stopped begins the output of a run that a limit ended.
const stopped = "stopped "
