package sandbox

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

// resolvesUnix is the version of Landlock that confines Unix sockets by their paths.
const resolvesUnix = 9

// rules returns what the command may use under Landlock. A hidden path below a
// directory that it may read cannot be taken out: that directory is left out.
func (s Sandbox) rules(c Command, own ownDirs, connect []uint16) *confine.Rules {
	r := &confine.Rules{
		Read:    slices.Concat(system(), etc(), s.readable(c), []string{"/proc", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"}),
		Write:   slices.Concat(c.Writable, []string{own.home, own.tmp}),
		Connect: connect,
	}
	if c.Dir != "" {
		r.Write = append(r.Write, c.Dir)
	}
	r.Read = slices.DeleteFunc(r.Read, func(path string) bool {
		return slices.ContainsFunc(s.hidden, func(hidden string) bool { return within(real(hidden), real(path)) })
	})
	return r
}
