package sandbox

import "github.com/signalbox/signalbox/pkg/agent/sandbox/confine"

// gap is something that a mode does not confine. Its text is in Describe, thus in the log and on the
// terminal, and in SECURITY.md.
type gap struct {
	text string
	open func(s Sandbox) bool
}

func gaps() []gap {
	in := func(m Mode) func(Sandbox) bool { return func(s Sandbox) bool { return s.Mode() == m } }
	return []gap{
		{"everything", in(None)},
		{"limits of system calls (this program has no helper)", func(s Sandbox) bool { return s.Mode() == Bwrap && s.helper == "" }},
		{"the list of processes", in(Landlock)},
		{"which files there are, with their sizes and times", in(Landlock)},
		{"modes, owners, times and attributes of this user's files (wants user namespaces)",
			func(s Sandbox) bool { return s.Mode() == Landlock && !s.readOnly }},
		{"the ports of loopback that a test listens on (they cannot be reached)",
			func(s Sandbox) bool { return s.Mode() == Landlock && !s.userns }},
		{"TCP (wants Linux 6.7)", func(s Sandbox) bool { return s.Mode() == Landlock && !s.userns && confine.ABI() < 4 }},
		{"signals (wants Linux 6.12)", func(s Sandbox) bool { return s.Mode() == Landlock && confine.ABI() < 6 }},
	}
}

// Missing lists for people what the mode does not confine on this machine.
func (s Sandbox) Missing() []string {
	var open []string
	for _, g := range gaps() {
		if g.open(s) {
			open = append(open, g.text)
		}
	}
	return open
}
