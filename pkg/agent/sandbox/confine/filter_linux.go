package confine

import (
	"fmt"
	"maps"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// filter refuses system calls that no build needs and attacks do: on keys, on
// mounts and namespaces, and what types into a terminal. It holds for this thread
// and what it becomes.
func (s Spec) filter() error {
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil // a machine that the library does not know has the rest of the sandbox
	}
	refused := s.refusals()
	refused.Names = slices.DeleteFunc(refused.Names, func(name string) bool { _, known := machine.SyscallNames[name]; return !known })
	for _, policy := range []seccomp.Policy{
		{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{
			refused,
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}}, // its flags lie in memory; libraries then use clone
		}},
		// The calls of another architecture have other numbers. This policy refuses them all.
		{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: slices.Sorted(maps.Keys(machine.SyscallNames))},
		}},
	} {
		if err := seccomp.LoadFilter(seccomp.Filter{Policy: policy}); err != nil {
			return fmt.Errorf("filter system calls: %w", err)
		}
	}
	return nil
}

func (s Spec) refusals() seccomp.SyscallGroup {
	g := seccomp.SyscallGroup{
		Action: seccomp.ActionErrno,
		Names: []string{
			"add_key", "keyctl", "request_key", // the keys of this user's other sessions
			"mount", "umount2", "pivot_root", "setns", "unshare", "fsopen", "fsmount", "move_mount", "open_tree", "mount_setattr",
			"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "kexec_load", "kexec_file_load", "init_module", "finit_module",
			"delete_module", "open_by_handle_at", "process_vm_readv", "process_vm_writev", "quotactl", "swapon", "swapoff", "reboot",
		},
		NamesWithCondtions: []seccomp.NameWithConditions{
			refuse("ioctl", argument(1, seccomp.Equal, unix.TIOCSTI)),
			refuse("ioctl", argument(1, seccomp.Equal, unix.TIOCLINUX)),
			refuse("clone", argument(0, seccomp.BitsSet, unix.CLONE_NEWUSER)),
			refuse("socket", argument(0, seccomp.GreaterThan, unix.AF_NETLINK)), // packets, virtual machines, kernel keys and ciphers
		},
	}
	if s.NoIPC {
		g.Names = append(g.Names, "msgget", "semget", "shmget", "mq_open")
	}
	if s.NoUnix { // a pair of datagram sockets can be connected to a path afterwards
		local := argument(0, seccomp.Equal, unix.AF_UNIX)
		g.NamesWithCondtions = append(g.NamesWithCondtions,
			refuse("socket", local), refuse("socketpair", local, argument(1, seccomp.BitsSet, unix.SOCK_DGRAM)))
	}
	if s.TCPOnly {
		for _, family := range []uint64{unix.AF_INET, unix.AF_INET6} {
			inet := argument(0, seccomp.Equal, family)
			g.NamesWithCondtions = append(g.NamesWithCondtions,
				refuse("socket", inet, argument(1, seccomp.BitsSet, unix.SOCK_DGRAM)), // of raw sockets, too
				refuse("socket", inet, argument(2, seccomp.GreaterThan, unix.IPPROTO_TCP)),
			)
		}
	}
	return g
}

func refuse(name string, conditions ...seccomp.Condition) seccomp.NameWithConditions {
	return seccomp.NameWithConditions{Name: name, Conditions: conditions}
}

func argument(n uint32, is seccomp.Operation, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: is, Value: value}
}
