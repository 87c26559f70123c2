package testrun

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// timedOut matches the messages of test tools about a test that did not end in time.
var timedOut = lazyregexp.New(`panic: test timed out after|Exceeded timeout of \d+ ?ms|Timeout of \d+ms exceeded|Test timed out in \d+ms|test timed out after \d+ms|Failed: Timeout (?:>|\()|TimeoutExpired: Command`)

// undefined has what compilers and interpreters print about a name that is not there. The
// first group that matches is the name.
var undefined = []struct {
	message *lazyregexp.Regexp
	dynamic bool // the program ran up to it: it is a failure to load only if the test itself asks for the name
}{
	// Go
	{lazyregexp.New(`\bundefined: (?:[\w.]+\.)?(\w+)`), false},
	{lazyregexp.New(`\.(\w+) undefined \(type `), false},
	{lazyregexp.New(`unknown field (\w+) in struct literal`), false},
	{lazyregexp.New(`(?:not enough|too many) arguments in call to (?:[\w.()*]+\.)?(\w+)`), false},
	{lazyregexp.New(`assignment mismatch: .* but (?:[\w.]+\.)?(\w+)(?:\(.*\))? returns`), false},
	{lazyregexp.New(`no required module provides package ([^\s;]+)`), false},
	{lazyregexp.New(`package ([^\s;]+) is not in std`), false},
	// Rust
	{lazyregexp.New("cannot find (?:function|value|type|struct, variant or union type|trait|macro|module or crate|derive macro|attribute|tuple struct/variant|unit struct, unit variant or constant)[^`\n]* `(\\w+)`"), false},
	{lazyregexp.New("no (?:method|function or associated item|associated item|variant or associated item|variant|field)[^`\n]* `?(\\w+)`? found"), false},
	{lazyregexp.New("no field `(\\w+)` on type"), false},
	{lazyregexp.New("unresolved imports? `(?:[\\w:]+::)?(\\w+)`"), false},
	{lazyregexp.New("failed to resolve: .* `(\\w+)`"), false},
	{lazyregexp.New("no `(\\w+)` in "), false},
	// C, Java
	{lazyregexp.New(`implicit declaration of function [‘'](\w+)[’']`), false},
	{lazyregexp.New(`[‘'](\w+)[’'] (?:undeclared|was not declared in this scope)`), false},
	{lazyregexp.New("undefined reference to [`‘'](\\w+)['’]"), false},
	{lazyregexp.New(`cannot find symbol\s+(?:\[ERROR\]\s*)?symbol:\s+\w+ (\w+)`), false},
	// TypeScript
	{lazyregexp.New(`error TS\d+: (?:Cannot find name|Property|Module '[^']*' has no exported member) '?(\w+)'?`), false},
	// Python
	{lazyregexp.New(`(?m)ImportError: cannot import name '(\w+)'`), true},
	{lazyregexp.New(`(?m)ModuleNotFoundError: No module named '([\w.]+)'`), true},
	{lazyregexp.New(`(?m)AttributeError: (?:module|type object) '[\w.]+' has no attribute '(\w+)'`), true},
	{lazyregexp.New(`(?m)AttributeError: '(?:[A-Z]\w*[a-z]\w*)' object has no attribute '(\w+)'`), true},
	{lazyregexp.New(`(?m)NameError: name '(\w+)' is not defined`), true},
	{lazyregexp.New(`(?m)TypeError: \S+ got an unexpected keyword argument '(\w+)'`), true},
	// JavaScript
	{lazyregexp.New(`does not provide an export named '(\w+)'`), false},
	{lazyregexp.New(`Cannot find (?:module|package) '([^']+)'`), true},
	{lazyregexp.New(`(?:\b|\))\.?(\w+) is not a (?:function|constructor)\b`), true},
	{lazyregexp.New(`ReferenceError: (\w+) is not defined`), true},
	// Perl
	{lazyregexp.New(`Undefined subroutine &(?:\w+::)*(\w+) called`), true},
	{lazyregexp.New(`Can't locate object method "(\w+)" via package`), true},
	// Ruby, PHP
	{lazyregexp.New("(?:undefined method|undefined local variable or method) [`'](\\w+[?!=]?)'"), true},
	{lazyregexp.New(`uninitialized constant (?:\w+::)*(\w+)`), true},
	{lazyregexp.New(`Call to undefined (?:function|method) (?:\w+(?:::|\\))*(\w+)\(`), true},
}

// syntax matches the messages about a file that cannot be read as code.
var syntax = lazyregexp.New(`(?m)^(?:E\s+)?(?:\w+: )?(?:SyntaxError|IndentationError|TabError)\b|\[build failed\]|\[setup failed\]|COMPILATION ERROR`)

// frames match the places that a failure names. The first group is the file. Python prints
// the place of the fault last; JavaScript prints it first.
var (
	pythonFrame = lazyregexp.New(`(?m)^(?:\s*File "([^"\n]+\.py)", line \d+|([^\s:]+\.py):\d+: )`)
	jsFrame     = lazyregexp.New(`(?m)(?:^\s+at |❯ |^\s+)(?:.*\()?(?:file://)?([^\s:()]+\.[cm]?[jt]sx?):\d+:\d+\)?$`)
)

// explain completes the cause of a failure, and the name that is missing, from its output.
func (f failure) explain() failure {
	if f.cause == "" && f.file != "" && f.name == f.file { // node reports a file that does not load as a test
		f.cause = verdict.Compile
	}
	if f.cause == verdict.Timeout || f.cause == "" && timedOut.MatchString(f.output) || timedOut.MatchString(f.output) && f.cause == verdict.Unknown {
		f.cause = verdict.Timeout
		return f
	}
	for _, u := range undefined {
		m := u.message.FindStringSubmatch(f.output)
		if m == nil || u.dynamic && f.cause == "" && !f.inTest() {
			continue
		}
		if f.cause == "" || f.cause == verdict.Compile {
			f.cause, f.missing = verdict.Compile, m[1]
		}
		break
	}
	if f.cause == "" {
		if f.cause = verdict.Assertion; syntax.MatchString(f.output) {
			f.cause = verdict.Compile
		}
	}
	return f
}

// inTest reports whether the fault happened in a test's own code, as far as the output
// names its place. A name that the product itself misses is a fault of the product.
func (f failure) inTest() bool {
	at := ""
	if all := pythonFrame.FindAllStringSubmatch(f.output, -1); all != nil {
		last := all[len(all)-1]
		at = last[1] + last[2]
	} else if m := jsFrame.FindStringSubmatch(f.output); m != nil {
		at = m[1]
	}
	switch {
	case at == "":
		return true
	case f.file != "" && (strings.HasSuffix(at, f.file) || strings.HasSuffix(f.file, at)):
		return true
	}
	return testFile.MatchString(at) || slices.ContainsFunc([]string{"importlib/", "jest-resolve", "node:internal"}, func(s string) bool { return strings.Contains(at, s) })
}
