// Package confine is the part of a sandbox that works in the confined process itself. The
// service runs its own program again as a helper, which limits itself. The helper then
// becomes the command, or waits for it and ends all that it left.
//
// A main calls Intercept first. The helper is given a Spec and the command:
//
//	/proc/self/exe signalbox-confine SPEC COMMAND ARGUMENT...
//	/proc/self/exe signalbox-gocache READABLE WRITABLE
package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	confineArg = "signalbox-confine"
	cacheArg   = "signalbox-gocache"
)

// Variable names the program that serves as helper, where it is not the running
// one. Tests set it in TestMain, after Intercept.
const Variable = "SIGNALBOX_CONFINE_HELPER"

// ErrNoHelper means that the running program cannot serve as a helper.
var ErrNoHelper = errors.New("this program cannot confine itself")

// Helper returns the path of the program that serves as helper.
func Helper() (string, error) {
	if path := os.Getenv(Variable); path != "" {
		return path, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoHelper, err)
	}
	if strings.HasSuffix(path, ".test") {
		return "", fmt.Errorf("%w: it is a test", ErrNoHelper)
	}
	return path, nil
}

// Limits hold for each process of a command. A limit of zero is none.
type Limits struct {
	CPU       time.Duration `json:",omitempty"` // whole seconds
	FileSize  int64         `json:",omitempty"` // bytes
	Address   int64         `json:",omitempty"` // bytes of address space: too coarse for programs that reserve much (node, java, go test -race)
	Files     int           `json:",omitempty"` // open files
	Processes int           `json:",omitempty"` // and threads, of this user in this user namespace; root is exempt
}

// Spec is what a helper does before, and while, the command runs.
type Spec struct {
	Limits Limits `json:",omitzero"`
	// Rules confine the command by Landlock; nil: they do not.
	Rules *Rules `json:",omitempty"`
	// Filter refuses system calls that no build needs, see filter_linux.go.
	Filter bool `json:",omitempty"`
	// TCPOnly makes Filter refuse all sockets but those of TCP and of Unix.
	TCPOnly bool `json:",omitempty"`
	// ReadOnly makes everything read-only but Rules.Write, in a mount namespace of its own. So
	// the command changes no mode, owner, time or attribute, which Landlock does not confine.
	ReadOnly bool `json:",omitempty"`
	// NoUnix makes Filter refuse Unix sockets by path, and NoIPC the queues, semaphores and
	// memory that processes of this user share.
	NoUnix bool `json:",omitempty"`
	NoIPC  bool `json:",omitempty"`
	// Loopback brings the loopback interface of a network namespace of its own up.
	Loopback bool `json:",omitempty"`
	// Forward is the path of a socket. The helper forwards Port of 127.0.0.1 to it.
	Forward string `json:",omitempty"`
	Port    int    `json:",omitempty"`
	// Local lists ports of the host's loopback, HOST:PORT, that the proxy behind Forward
	// reaches. The helper listens on each, for a program that takes no proxy to itself.
	Local []string `json:",omitempty"`
	// Reap makes the helper wait, and kill what the command left. Descriptor 3 is
	// then a pipe: at its end the helper kills the command.
	Reap bool `json:",omitempty"`
}

// Rules are what a command may use under Landlock. Paths that do not exist are
// skipped.
type Rules struct {
	Read, Write []string
	// Connect are the only TCP ports that can be reached; nil: Landlock confines no
	// network.
	Connect []uint16
}

// Command returns the command line of a helper that runs argv.
func (s Spec) Command(helper string, argv []string) ([]string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append([]string{helper, confineArg, string(text)}, argv...), nil
}

// CacheProgram returns the value of GOCACHEPROG for a build cache that reads from all these
// directories, and writes to one of them. See cache.go.
func CacheProgram(helper string, readable []string, writable string) string {
	return strings.Join([]string{helper, cacheArg, quoted(strings.Join(readable, string(filepath.ListSeparator))), quoted(writable)}, " ")
}

// quoted returns a word as cmd/internal/quoted splits it.
func quoted(word string) string {
	if strings.ContainsAny(word, " \t\n'") {
		return `"` + word + `"`
	}
	return word
}

// Intercept makes this process a helper if its arguments say so, and then never
// returns. Each main that runs sandboxes calls it first. It marks all descriptors that the
// process inherited close-on-exec, but for the standard ones: no command gets a lock, a
// directory or a socket that the parent process left open.
func Intercept() {
	closeOnExec()
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case confineArg:
		os.Exit(help(os.Args[2:]))
	case cacheArg:
		os.Exit(serveCache(os.Args[2:]))
	}
}

// help returns the exit code of a helper.
func help(args []string) int {
	var s Spec
	if len(args) < 2 {
		return failed(errors.New("want a spec and a command"))
	}
	if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
		return failed(err)
	}
	return s.run(args[1:])
}

// failed prints why the command was not started.
func failed(err error) int {
	fmt.Fprintf(os.Stderr, "sandbox: %v\n", err)
	return 126
}

// missing is what is printed for a program that is not there, as bubblewrap does.
func missing(program string) int {
	fmt.Fprintf(os.Stderr, "sandbox: execvp %s: No such file or directory\n", program)
	return 127
}

// find returns the path of a program.
func find(program string) (string, bool) {
	if strings.Contains(program, "/") {
		info, err := os.Stat(program)
		return program, err == nil && !info.IsDir()
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}
