package sandbox

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
)

// proxyPort is where a command finds the proxy in a network of its own.
const proxyPort = 41927

// prepare returns the process to start for the command. It makes what the run needs,
// which the caller must clear.
func (s Sandbox) prepare(c *Command, p *process) (*exec.Cmd, error) {
	if s.Mode() == None {
		return s.unconfined(*c)
	}
	if s.Mode() == Landlock {
		if _, err := exec.LookPath(c.Argv[0]); err != nil {
			return nil, err
		}
	}
	own, err := newOwnDirs(*c)
	p.own = own
	if err != nil {
		return nil, err
	}
	cache := c.Cache
	if cache == "" {
		cache = filepath.Join(p.own.root, "cache")
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, err
	}
	// Before its environment names its own caches, and another home.
	c.needed = slices.Concat(c.toolchain(), c.program())
	c.Writable = append(slices.Clone(c.Writable), cache)
	c.Env = s.environ(*c, p.own, cache)
	spec := confine.Spec{Limits: c.Limits.each(), Filter: true}
	var connect []uint16
	if !c.Egress.Empty() && s.helper != "" {
		if connect, err = s.open(c, p, &spec); err != nil {
			return nil, err
		}
	}
	if s.Mode() == Landlock {
		return s.ruled(*c, p, spec, connect)
	}
	return s.bubble(*c, p, spec, cache)
}

// unconfined returns the process of a command that nothing confines.
func (s Sandbox) unconfined(c Command) (*exec.Cmd, error) {
	argv := c.Argv
	if s.helper == "" {
		argv = c.limited()
	} else {
		if _, err := exec.LookPath(c.Argv[0]); err != nil {
			return nil, err
		}
		var err error
		if argv, err = (confine.Spec{Limits: c.Limits.each(), Reap: true}).Command(s.helper, argv); err != nil {
			return nil, err
		}
	}
	return command(c, argv, &syscall.SysProcAttr{Setsid: true}), nil
}

// ruled returns the process of a command under Landlock.
func (s Sandbox) ruled(c Command, p *process, spec confine.Spec, connect []uint16) (*exec.Cmd, error) {
	attr := &syscall.SysProcAttr{Setsid: true}
	spec.Reap, spec.NoUnix = true, confine.ABI() < resolvesUnix
	if s.userns {
		attr, spec.Loopback, spec.ReadOnly = ownNamespaces(), true, s.readOnly
	} else {
		spec.TCPOnly, spec.NoIPC = true, true
		if connect == nil {
			connect = []uint16{}
		}
	}
	spec.Rules = s.rules(c, p.own, connect)
	argv, err := spec.Command(s.helper, c.Argv)
	return command(c, argv, attr), err
}

// bubble returns the process of a command under bubblewrap.
func (s Sandbox) bubble(c Command, p *process, spec confine.Spec, cache string) (*exec.Cmd, error) {
	argv := c.limited()
	if s.helper != "" {
		var err error
		if argv, err = spec.Command(s.helper, c.Argv); err != nil {
			return nil, err
		}
	}
	args, copies := s.bwrapArgs(c, p.own, cache)
	p.copies = copies
	return command(c, append(args, argv...), &syscall.SysProcAttr{Setsid: true}), nil
}

func command(c Command, argv []string, attr *syscall.SysProcAttr) *exec.Cmd {
	if len(argv) == 0 {
		argv = []string{""}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.Dir, c.Env, attr
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be this process's own
	}
	return cmd
}

// open starts the proxy of a run, and tells the command where it is. It returns the
// ports that Landlock has to permit.
func (s Sandbox) open(c *Command, p *process, spec *confine.Spec) ([]uint16, error) {
	address := "http://127.0.0.1:" + strconv.Itoa(proxyPort)
	var connect []uint16
	if s.Mode() == Landlock && !s.userns {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
		password := rand.Text() // others on this machine reach the port as well
		p.proxy = egress.Start(l, c.Egress, password)
		connect = []uint16{uint16(l.Addr().(*net.TCPAddr).Port)}
		address = "http://sandbox:" + password + "@" + l.Addr().String()
	} else {
		path, err := p.own.newSocket()
		if err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
		p.proxy = egress.Start(l, c.Egress, "")
		p.own.socket, spec.Forward, spec.Port, spec.Local = path, path, proxyPort, c.Egress.Loopback()
	}
	const local = "localhost,127.0.0.1,::1"
	c.Env = append(c.Env, "HTTP_PROXY="+address, "HTTPS_PROXY="+address, "http_proxy="+address, "https_proxy="+address,
		"ALL_PROXY="+address, "all_proxy="+address, "NO_PROXY="+local, "no_proxy="+local, "NODE_USE_ENV_PROXY=1")
	return connect, nil
}

// each returns the limits that the kernel holds for each process.
func (l Limits) each() confine.Limits {
	return confine.Limits{CPU: l.CPU, FileSize: l.FileSize, Files: l.Files, Processes: l.Processes}
}
