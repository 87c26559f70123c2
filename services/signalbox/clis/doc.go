// Package clis tries the coding agents that people install, each through its preset, with a
// scripted model on loopback: `make clis`. It has tests only.
//
//	SIGNALBOX_CLIS=DIR           where they are installed, by npm; without it nothing is tried
//	SIGNALBOX_CLIS_ONLY=codex    some of them, by their names
//	SIGNALBOX_CLIS_CASES=REGEXP  some of the cases, by their names
//	SIGNALBOX_CLIS_SANDBOX=none  some modes of the sandbox; bwrap and landlock by default
package clis
