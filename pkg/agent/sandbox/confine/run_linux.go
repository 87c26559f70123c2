package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run runs the command and returns its exit code. Where nothing else has to run
// meanwhile, this process becomes the command.
func (s Spec) run(argv []string) int {
	if s.Loopback {
		if err := loopback(); err != nil {
			return failed(fmt.Errorf("bring loopback up: %w", err))
		}
	}
	if s.ReadOnly && s.Rules != nil {
		if err := readOnly(s.Rules.Write); err != nil {
			return failed(fmt.Errorf("make all else read-only: %w", err))
		}
	}
	if s.Forward == "" && !s.Reap {
		return s.become(argv)
	}
	// The signals are for the command, which is in the same process group.
	signal.Notify(make(chan os.Signal, 8), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if s.Forward != "" {
		if err := forward(s.Port, s.Forward); err != nil {
			return failed(err)
		}
		for _, target := range s.Local {
			if err := tunnel(target, s.Forward); err != nil {
				return failed(err)
			}
		}
	}
	return s.accompany(argv)
}

// accompany runs the command as a child, and kills what is left when it has ended.
func (s Spec) accompany(argv []string) int {
	inner := s
	inner.Reap, inner.Forward, inner.Local, inner.Loopback, inner.ReadOnly = false, "", nil, false, false
	text, err := json.Marshal(inner)
	if err != nil {
		return failed(err)
	}
	if s.Reap {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return failed(fmt.Errorf("adopt processes: %w", err))
		}
		unix.CloseOnExec(3)
	}
	cmd := exec.Command("/proc/self/exe", append([]string{confineArg, string(text)}, argv...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return failed(err)
	}
	killed := make(chan struct{})
	if s.Reap {
		go func() {
			_, _ = os.NewFile(3, "lifeline").Read(make([]byte, 1)) // ends when the service says so, or has ended
			close(killed)
			KillBelow(os.Getpid())
		}()
	}
	_ = cmd.Wait()
	if s.Reap {
		reap()
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	select {
	case <-killed:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	default:
	}
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// reap kills all descendants until there are none. A process that one forked while it was
// killed is this process's child once the wait for its parent returns: the next round finds
// it.
func reap() {
	for {
		KillBelow(os.Getpid())
		for options := 0; ; options = syscall.WNOHANG { // wait for one, then take what has ended as well
			pid, err := syscall.Wait4(-1, nil, options, nil)
			if err != nil && err != syscall.EINTR {
				return // no child is left
			}
			if err == nil && pid == 0 {
				break
			}
		}
	}
}

// become limits this process and makes it the command. It returns only if that
// fails.
func (s Spec) become(argv []string) int {
	path, ok := find(argv[0])
	if !ok {
		return missing(argv[0])
	}
	runtime.LockOSThread()
	if err := s.limit(); err != nil {
		return failed(err)
	}
	closeOnExec() // the standard descriptors only
	if err := syscall.Exec(path, argv, os.Environ()); err != nil {
		if err == syscall.ENOENT {
			return missing(argv[0])
		}
		return failed(fmt.Errorf("start %s: %w", argv[0], err))
	}
	return 0
}

// limit applies the spec to this thread. The confinement of the file system comes after
// all steps that need files.
func (s Spec) limit() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("refuse new privileges: %w", err)
	}
	if s.Rules != nil {
		if err := s.Rules.enforce(); err != nil {
			return err
		}
		dropCapabilities()
	}
	if err := s.Limits.set(); err != nil {
		return err
	}
	if s.Filter {
		return s.filter()
	}
	return nil
}

// set sets the limits that the kernel enforces. None is above the one there is.
func (l Limits) set() error {
	for _, one := range []struct {
		name     string
		resource int
		value    int64
		set      bool
	}{
		{"core", unix.RLIMIT_CORE, 0, true},
		{"CPU time", unix.RLIMIT_CPU, int64((l.CPU + time.Second - 1) / time.Second), l.CPU > 0},
		{"file size", unix.RLIMIT_FSIZE, l.FileSize, l.FileSize > 0},
		{"open files", unix.RLIMIT_NOFILE, int64(l.Files), l.Files > 0},
		{"processes", unix.RLIMIT_NPROC, int64(l.Processes), l.Processes > 0},
		{"address space", unix.RLIMIT_AS, l.Address, l.Address > 0},
	} {
		if !one.set {
			continue
		}
		var now syscall.Rlimit
		if err := syscall.Getrlimit(one.resource, &now); err != nil {
			return fmt.Errorf("limit %s: %w", one.name, err)
		}
		value := min(uint64(one.value), now.Max)
		if err := syscall.Setrlimit(one.resource, &syscall.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("limit %s: %w", one.name, err)
		}
	}
	return nil
}

// dropCapabilities takes from root what makes it root. It confines further what
// Landlock confines, so an error does not matter.
func dropCapabilities() {
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT and its lock
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0)
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{}
	_ = unix.Capset(&header, &data[0])
}

// closeOnExec marks all descriptors but the standard ones. A kernel before Linux 5.11 cannot: there
// only what this program opened is closed.
func closeOnExec() { _ = unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) }

// readOnly makes every mount of this process's own namespace read-only, but for the paths to write.
func readOnly(write []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	var mounted []string
	for _, path := range write {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		mounted = append(mounted, path)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return err
	}
	for _, path := range mounted {
		err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		if err != nil && err != unix.EPERM { // it was read-only before
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.Chdir(dir) // through the new mounts
}

// loopback brings the loopback interface up.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}
