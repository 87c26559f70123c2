package testrun

import (
	"path"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// EndsProcess returns a sentence if a change makes a file of the product end the process
// that loads it, as tests do, or act when it ends. It is empty otherwise.
func EndsProcess(name string, before, now []byte) string {
	count := endings(name, now)
	if count == 0 || count <= endings(name, before) {
		return ""
	}
	return name + " can end the process of its tests as if they passed, or acts at its end"
}

func endings(name string, content []byte) int {
	switch path.Ext(name) {
	case ".go":
		if strings.HasSuffix(name, "_test.go") {
			return 0
		}
		return goEndings(content)
	case ".py":
		return pyEndings(string(content))
	case ".js", ".cjs", ".mjs", ".ts", ".tsx", ".jsx":
		return jsEndings(string(content))
	case ".rb":
		return len(rubyEnding.FindAllString(string(content), -1))
	case ".php":
		return len(phpEnding.FindAllString(string(content), -1))
	}
	return 0
}

var (
	pyEnding   = lazyregexp.New(`\b(?:sys\.exit|os\._exit|os\.kill|os\.abort|os\.execv\w*|quit|exit)\s*\(|\bSystemExit\b`)
	pyAtEnd    = lazyregexp.New(`\batexit\.|\bsys\.settrace\b|\b_pytest\b|\bunittest\.(?:TestCase|TestResult|runner|main)\b.*=|\bsys\.modules\[|\bos\._exit\b`)
	pyMain     = lazyregexp.New(`^if\s+__name__\s*==`)
	pyScope    = lazyregexp.New(`^(?:async\s+)?(?:def|class)\b`)
	jsEnding   = lazyregexp.New(`\bprocess\.(?:exit|abort|kill|reallyExit)\b|\bprocess\.exitCode\s*=|\bprocess\.on\(\s*['"](?:exit|beforeExit)`)
	jsWell     = lazyregexp.New(`\bprocess\.(?:exit|reallyExit)\s*\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0`)
	rubyEnding = lazyregexp.New(`(?m)^(?:exit|abort|at_exit|Process\.exit)\b|\bexit!`)
	phpEnding  = lazyregexp.New(`(?m)^(?:exit|die|register_shutdown_function)\b`)
)

// pyEndings counts what ends a process, or acts at its end, outside of functions and classes
// and of the block that runs as a program, and hooks of the end wherever they are.
func pyEndings(content string) (n int) {
	skipping := false
	for line := range strings.Lines(content) {
		code, _, _ := strings.Cut(line, "#")
		switch {
		case strings.TrimSpace(code) == "":
			continue
		case code[0] != ' ' && code[0] != '\t':
			skipping = pyScope.MatchString(code) || pyMain.MatchString(code) || strings.HasPrefix(code, "@")
		}
		if pyAtEnd.MatchString(code) || !skipping && pyEnding.MatchString(code) {
			n++
		}
	}
	return n
}

// jsEndings counts what ends a process outside of all braces and, in a file that is not a
// program, what ends it as if all were well.
func jsEndings(content string) (n int) {
	depth, program := 0, strings.HasPrefix(content, "#!")
	for line := range strings.Lines(content) {
		code, _, _ := strings.Cut(line, "//")
		if depth <= 0 && jsEnding.MatchString(code) || !program && jsWell.MatchString(code) {
			n++
		}
		depth += strings.Count(code, "{") - strings.Count(code, "}")
	}
	return n
}

// shadowed are modules of Python that a file at the root, or in a directory that tests put
// on the path, takes the place of: those of the standard library that runners of tests load,
// and those of the runners.
const shadowed = `
	_pytest abc argparse ast asyncio atexit attr attrs base64 bdb builtins bz2 calendar cmd code codecs codeop collections colorsys
	concurrent configparser contextlib contextvars copy copyreg cProfile coverage csv ctypes curses dataclasses datetime decimal
	difflib dis doctest email encodings enum errno exceptiongroup faulthandler fcntl filecmp fnmatch fractions functools gc getopt
	getpass gettext glob graphlib gzip hashlib heapq hmac html http hypothesis imaplib importlib iniconfig inspect io ipaddress
	itertools json keyword linecache locale logging lzma marshal math mimetypes mmap multiprocessing nose numbers opcode operator
	os packaging pathlib pdb pickle pkgutil platform pluggy posixpath pprint profile pstats pty py pydoc pytest pytest_cov queue
	quopri random re reprlib resource runpy sched secrets select selectors shelve shlex shutil signal site sitecustomize socket
	socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable sys sysconfig tarfile tempfile termios
	test textwrap threading time timeit token tokenize tomli tomllib trace traceback tracemalloc types typing unicodedata unittest
	urllib usercustomize uuid venv warnings wave weakref webbrowser wsgiref xml xmlrpc xmlrunner zipfile zipimport zlib zoneinfo`

// Shadows returns a sentence if a new file takes the place of an installed module: one of
// Python at the root of the repository or of its tests, or one below node_modules.
func Shadows(name string) string {
	if strings.HasPrefix(name, "node_modules/") || strings.Contains(name, "/node_modules/") {
		return name + " takes the place of an installed module"
	}
	dir, base := path.Split(name)
	module, ext := strings.TrimSuffix(base, path.Ext(base)), path.Ext(base)
	if module == "__init__" {
		dir, module = path.Split(strings.TrimSuffix(dir, "/"))
	}
	if ext != ".py" && ext != ".so" && ext != ".pyc" && ext != ".pyd" {
		return ""
	}
	module, _, _ = strings.Cut(module, ".")
	switch strings.TrimSuffix(dir, "/") {
	case "", "src", "lib", "tests", "test":
	default:
		return ""
	}
	for known := range strings.FieldsSeq(shadowed) {
		if module == known && !(module == "test" && dir == "") {
			return name + " takes the place of the module " + module + " that tests load"
		}
	}
	return ""
}
