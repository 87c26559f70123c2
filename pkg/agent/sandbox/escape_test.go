package sandbox_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
)

// host is a machine as an attack finds it: a home with what is in one, the service's
// data, a work tree, and a listener on loopback and on an abstract socket.
type host struct {
	home, data, tree string
	port, abstract   string
	pid              int
	socket, datagram string // paths of Unix sockets
	fd               int    // of the home, open in this process and not close-on-exec
	queue            int    // key of a message queue of System V
}

// secret is in every file of the host that no command may read.
const secret = "VICTIM-SECRET"

func newHost(t *testing.T) host {
	t.Helper()
	root := shortDir(t)
	h := host{home: filepath.Join(root, "home"), data: filepath.Join(root, "home", "project", ".signalbox"), tree: filepath.Join(root, "tree")}
	for _, name := range []string{
		".ssh/id_ed25519", ".aws/credentials", ".config/signalbox/nats/4222", ".config/gh/hosts.yml", ".claude/settings.json", ".codex/auth.json",
		"go/bin/gopls", ".cargo/config.toml", ".cargo/credentials.toml", ".npmrc", ".cache/signalbox/work/pm/repos/x.git/HEAD",
		".cache/signalbox/work/developer/trees/1/work/main.go", "project/.env", "project/.signalbox/forge/person.token", "project/fix.sh", ".profile",
	} {
		write(t, filepath.Join(h.home, name), secret)
	}
	write(t, filepath.Join(h.home, ".cache/go-build/README"), "cache")
	write(t, filepath.Join(h.home, "go/pkg/mod/README"), "cache")
	if err := os.MkdirAll(h.tree, 0o700); err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close() })
	h.abstract = fmt.Sprintf("signalbox-escape-%d-%d", os.Getpid(), time.Now().UnixNano())
	abstract, err := net.Listen("unix", "@"+h.abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { abstract.Close() })
	h.socket, h.datagram = filepath.Join(h.home, "project", "agent.sock"), filepath.Join(h.home, "project", "log.sock")
	agent, err := net.Listen("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { agent.Close() })
	journal, err := net.ListenPacket("unixgram", h.datagram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { journal.Close() })
	if h.fd, err = syscall.Open(h.home, syscall.O_RDONLY|syscall.O_DIRECTORY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(h.fd) })
	h.queue = os.Getpid()<<8 | int(time.Now().UnixNano()&0xff)
	id, _, _ := syscall.Syscall(unix.SYS_MSGGET, uintptr(h.queue), 0o600|unix.IPC_CREAT, 0)
	t.Cleanup(func() { _, _, _ = syscall.Syscall(unix.SYS_MSGCTL, id, 0, 0) }) // IPC_RMID
	_, h.port, _ = net.SplitHostPort(tcp.Addr().String())
	other := exec.Command("sleep", "600") // a process of this user that holds a token
	other.Env = []string{"TOKEN=" + secret}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	h.pid = other.Process.Pid
	return h
}

// shortDir returns a directory of the test with a path short enough for a Unix socket below it (107 bytes on Linux).
// The path of t.TempDir contains the name of the test.
func shortDir(t *testing.T) string {
	t.Helper()
	base := os.TempDir()
	if len(base) > 60 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "sb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// python runs a program; an attack without it is skipped. It is that of the system: one in a home finds
// nothing in another home, and an attack that does not start shows nothing.
func python(program string) string {
	return "PATH=/usr/bin:/bin:$PATH python3 - <<'END'\nprint('tried', flush=True)\n" + program + "\nEND"
}

// inPython reports whether a script is of python.
func inPython(script string) bool { return strings.HasPrefix(script, "PATH=/usr/bin") }

// escapes are attacks. Each is a shell script over the host's variables that prints
// "escaped", or the secret, if it succeeds.
func escapes() map[string]string {
	script := map[string]string{
		"read an ssh key":                              `cat "$VICTIM/.ssh/id_ed25519"`,
		"read cloud credentials":                       `cat "$VICTIM/.aws/credentials"`,
		"read what lies beside its script":             `cat "$VICTIM/project/.env"`,
		"read the forge's token in the data directory": `cat "$DATA/forge/person.token"`,
		"read the password of NATS":                    `cat "$VICTIM/.config/signalbox/nats/4222"`,
		"read the tree of another instance":            `cat "$VICTIM/.cache/signalbox/work/developer/trees/1/work/main.go"`,
		"plant commondir in a cached repository":       `echo x > "$VICTIM/.cache/signalbox/work/pm/repos/x.git/commondir"`,
		"write this user's build cache":                `echo x > "$VICTIM/.cache/go-build/README"`,
		"write this user's modules":                    `echo x > "$VICTIM/go/pkg/mod/README"`,
		"replace gopls":                                `echo x > "$VICTIM/go/bin/gopls"`,
		"set a wrapper for rustc":                      `echo x > "$VICTIM/.cargo/config.toml"`,
		"plant a hook for a coding agent":              `mkdir -p "$VICTIM/.claude"; echo x > "$VICTIM/.claude/settings.json"`,
		"add a line to a profile":                      `echo x >> "$VICTIM/.profile"`,
		"change its own script":                        `echo x > "$VICTIM/project/fix.sh"`,
		"reach NATS on loopback":                       `bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT" && echo escaped`,
		"reach the metadata service":                   `timeout 3 bash -c "exec 3<>/dev/tcp/169.254.169.254/80" && echo escaped`,
		"read the environment of another process":      `cat "/proc/$OTHER/environ" | tr '\0' '\n'`,
		"read the memory of another process":           `dd if="/proc/$OTHER/mem" bs=1 count=1 skip=4194304 2>/dev/null && echo escaped; ls "/proc/$OTHER/root/etc" && echo escaped`,
		"see what another process has open":            `readlink "/proc/$OTHER/cwd" "/proc/$OTHER/exe" && echo escaped; ls -l "/proc/$OTHER/fd/" | grep -e "->" && echo escaped; grep -q . "/proc/$OTHER/maps" && echo escaped`,
		"kill another process":                         `kill -0 "$OTHER" && echo escaped`,
		"mount a file system":                          `mount -t tmpfs none "$PWD" && echo escaped; unshare -rm true && echo escaped`,
		"write the system":                             `echo x > /usr/bin/signalbox-escape && echo escaped; echo x > /etc/signalbox-escape && echo escaped`,
		"read the system's passwords":                  `grep -q : /etc/shadow && echo escaped`,
		"change the mode of a directory of the user":   `chmod 0777 "$VICTIM/.ssh" && [ "$(stat -c %a "$VICTIM/.ssh")" = 777 ] && echo escaped`,
		"link a key into its tree":                     `ln "$VICTIM/.ssh/id_ed25519" stolen && cat stolen`,
		"read through an inherited descriptor":         `cat "/proc/self/fd/$FD/.ssh/id_ed25519" "/proc/$PPID/fd/$FD/.ssh/id_ed25519"`,
		"write through an inherited descriptor":        `echo x > "/proc/self/fd/$FD/.profile"`,
		"leave memory for others by its name":          `echo x > /dev/shm/signalbox-escape`,
		"read what an administrator configured":        `cat /etc/signalbox-secret /etc/environment /etc/gitconfig /etc/npmrc /etc/pip.conf /etc/wgetrc /etc/fstab /etc/crontab && echo escaped; for f in environment gitconfig npmrc pip.conf wgetrc fstab crontab login.defs apt/sources.list pam.d/login; do head -c 1 "/etc/$f" >/dev/null && echo escaped; done`,
		"write a setting of the kernel":                `was=$(cat /proc/sys/kernel/core_pattern) && echo "$was" > /proc/sys/kernel/core_pattern && echo escaped`,
	}
	for name, program := range map[string]string{
		"change the times of a file of the user": `
import os
os.utime(os.environ["VICTIM"] + "/.profile", (1, 1)); print("escaped")`,
		"change an attribute of a file of the user": `
import os
os.setxattr(os.environ["VICTIM"] + "/.profile", "user.x", b"y"); print("escaped")`,
		"give a file of the user away": `
import os
os.chown(os.environ["VICTIM"] + "/.profile", os.getuid(), os.getgid()); print("escaped")`,
		"reach a Unix socket of the user": `
import os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["SOCKET"]); print("escaped")`,
		"send to a Unix socket of the user": `
import os, socket
s, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ["DATAGRAM"]); s.send(b"x"); print("escaped")`,
		"find a message queue of the user": `
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
if c.msgget(int(os.environ["QUEUE"]), 0) >= 0: print("escaped")`,
		"take a descriptor of another process": `
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
fd = c.syscall(434, int(os.environ["OTHER"]), 0)
if fd >= 0 and c.syscall(438, fd, 0, 0) >= 0: print("escaped")`,
		"reach an abstract socket": `
import os, socket
s = socket.socket(socket.AF_UNIX); s.connect("\0" + os.environ["ABSTRACT"]); print("escaped")`,
		"send a datagram": `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("8.8.8.8", 53)); print("escaped")`,
		"reach loopback by a multipath socket": `
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(("127.0.0.1", int(os.environ["PORT"]))); print("escaped")`,
		"trace another process": `
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
if c.ptrace(16, int(os.environ["OTHER"]), 0, 0) == 0: print("escaped")`,
		"type into the terminal": `
import fcntl, termios
try: fd = open("/dev/tty")
except OSError: import pty; fd = pty.openpty()[1]
fcntl.ioctl(fd, termios.TIOCSTI, b"x"); print("escaped")`,
		"use the keys of the session": `
import ctypes
c = ctypes.CDLL(None, use_errno=True)
if c.syscall(250, 0, -3, 1) >= 0: print("escaped")`,
		"make a user namespace": `
import ctypes
c = ctypes.CDLL(None, use_errno=True)
if c.unshare(0x10000000) == 0: print("escaped")`,
	} {
		script[name] = python(program)
	}
	return script
}

// attempt runs an attack on a host of its own and returns what it got or changed; empty if
// it did not succeed.
func attempt(t *testing.T, s sandbox.Sandbox, script string) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil && inPython(script) {
		t.Skip("not tried: it is written in Python, which is not here")
	}
	h := newHost(t)
	before := snapshot(t, h.home)
	// The sandbox has to hide what the service knows of, though it is named a file beside it.
	s = s.Hiding(h.data, filepath.Join(h.home, ".cache/signalbox/work"))
	r := run(t, s, sandbox.Command{
		Argv: []string{"sh", "-c", script}, Dir: h.tree, Readable: []string{filepath.Join(h.home, "project/fix.sh")},
		Login: []string{".claude/settings.json"}, Wall: 30 * time.Second,
		Env: append(sandbox.Environ(), "HOME="+h.home, "VICTIM="+h.home, "DATA="+h.data, "PORT="+h.port, "ABSTRACT="+h.abstract,
			fmt.Sprintf("OTHER=%d", h.pid), fmt.Sprintf("FD=%d", h.fd), fmt.Sprintf("QUEUE=%d", h.queue), "SOCKET="+h.socket, "DATAGRAM="+h.datagram,
			"GOCACHE=", "GOMODCACHE=", "GOPATH="),
	})
	var got []string
	if inPython(script) && !bytes.Contains(r.Output, []byte("tried")) {
		t.Errorf("python does not start: %s: %s", r, r.Output)
	}
	if bytes.Contains(r.Output, []byte("escaped")) || bytes.Contains(r.Output, []byte(secret)) {
		got = append(got, fmt.Sprintf("%s: %s", r, r.Output))
	}
	if after := snapshot(t, h.home); after != before {
		got = append(got, fmt.Sprintf("the home was\n%s\nand is\n%s", before, after))
	}
	for _, path := range []string{"/usr/bin/signalbox-escape", "/etc/signalbox-escape", "/dev/shm/signalbox-escape"} {
		if os.Remove(path) == nil {
			got = append(got, "it wrote "+path)
		}
	}
	return strings.Join(got, "\n")
}

func TestNoEscapeSucceeds(t *testing.T) {
	confined(t, func(t *testing.T, s sandbox.Sandbox) {
		said := strings.Join(s.Missing(), "\n")
		for name, script := range escapes() {
			t.Run(name, func(t *testing.T) {
				if gap := notConfined()[name]; gap != "" && strings.Contains(said, gap) {
					if attempt(t, s, script) == "" {
						t.Errorf("it is refused, and said not to be: %s", said)
					}
					return
				}
				if got := attempt(t, s, script); got != "" {
					t.Error(got)
				}
			})
		}
	})
}

// notConfined are the attacks that a mode does not refuse everywhere, each with the gap that then says so.
func notConfined() map[string]string {
	const gap = "modes, owners, times and attributes of this user's files"
	return map[string]string{
		"change the mode of a directory of the user": gap, "change the times of a file of the user": gap,
		"change an attribute of a file of the user": gap, "give a file of the user away": gap,
	}
}

// TestEscapesSucceedWithoutASandbox shows that the attacks are attacks. It leaves out those
// that depend on the machine's kernel, network or privileges, or would harm it.
func TestEscapesSucceedWithoutASandbox(t *testing.T) {
	elsewhere := []string{
		"mount a file system", "write the system", "read the system's passwords", "write a setting of the kernel", "make a user namespace",
		"reach the metadata service", "send a datagram", "reach loopback by a multipath socket", "trace another process",
		"type into the terminal", "use the keys of the session",
		"change an attribute of a file of the user", "take a descriptor of another process", "read what an administrator configured",
		"read through an inherited descriptor", "write through an inherited descriptor", // they are closed without a sandbox, too
	}
	all := escapes()
	for _, name := range elsewhere {
		if all[name] == "" {
			t.Errorf("there is no attack %q", name)
		}
		delete(all, name)
	}
	for name, script := range all {
		t.Run(name, func(t *testing.T) {
			if attempt(t, in(t, sandbox.None), script) == "" {
				t.Error("it does not succeed without a sandbox either, so that it is refused shows nothing")
			}
		})
	}
}

// snapshot returns the files of a directory and what is in them.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s: %s\n", path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestWhatTakesTooMuchIsEnded(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		for _, c := range []struct {
			name, script string
			limits       sandbox.Limits
			want         sandbox.Limit
		}{
			{"processes", `i=0; while [ $i -lt 60 ]; do sleep 600 & i=$((i+1)); done; wait`, sandbox.Limits{Processes: 40}, sandbox.Processes},
			{"memory", `head -c 300000000 /dev/zero | tail -c 290000000 | sleep 600`, sandbox.Limits{Memory: 64 << 20}, sandbox.Memory},
			{"disk", `head -c 40000000 /dev/zero > big; sleep 600`, sandbox.Limits{Disk: 8 << 20}, sandbox.Disk},
			{"memory that processes share", python(`
import mmap, time
m = mmap.mmap(-1, 300 << 20)
for i in range(0, len(m), 4096): m[i] = 1
time.sleep(600)`), sandbox.Limits{Memory: 64 << 20}, sandbox.Memory},
			{"memory in a file without a name", python(`
import os, time
fd = os.memfd_create("x")
for i in range(300): os.write(fd, b"x" * (1 << 20))
time.sleep(600)`), sandbox.Limits{Memory: 64 << 20}, sandbox.Memory},
			{"disk in a file without a name", python(`
import os, time
f = open("big", "wb"); os.unlink("big")
for i in range(100): f.write(b"x" * (1 << 20))
f.flush(); time.sleep(600)`), sandbox.Limits{Disk: 8 << 20}, sandbox.Disk},
			{"disk, of the temporary directory", `head -c 40000000 /dev/zero > "$TMPDIR/big"; sleep 600`, sandbox.Limits{Disk: 8 << 20}, sandbox.Disk},
		} {
			t.Run(c.name, func(t *testing.T) {
				if _, err := exec.LookPath("python3"); err != nil && inPython(c.script) {
					t.Skip("not tried: it is written in Python, which is not here")
				}
				if s.Mode() == sandbox.None && strings.Contains(c.name, "temporary") {
					t.Skip("nothing confines where it writes")
				}
				cmd := sh(t, c.script)
				cmd.Limits, cmd.Wall = c.limits, time.Minute
				// As root the kernel counts no processes, as another user it refuses to start more.
				r := run(t, s, cmd)
				if r.TimedOut != c.want && !(c.want == sandbox.Processes && !r.OK()) {
					t.Errorf("%s: %.300s", r, r.Output)
				}
			})
		}
	})
}

func TestNoProcessOutlivesAStep(t *testing.T) {
	each(t, func(t *testing.T, s sandbox.Sandbox) {
		c := sh(t, `setsid sh -c 'setsid sh -c "exec 3>held; echo up > up; exec sleep 600" & exit' & while [ ! -e up ]; do sleep 0.01; done; echo done`)
		fifo := filepath.Join(c.Dir, "held")
		if err := exec.Command("mkfifo", fifo).Run(); err != nil {
			t.Fatal(err)
		}
		held, err := os.OpenFile(fifo, os.O_RDONLY|0o4000, 0) // O_NONBLOCK
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		if r := run(t, s, c); !r.OK() || string(r.Output) != "done\n" {
			t.Errorf("%s: %s", r, r.Output)
		}
		// The end of the file comes when no process holds it any more.
		_ = held.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := held.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("a process is left: %v", err)
		}
	})
}

func TestTheProxyIsTheOnlyWayOut(t *testing.T) {
	web := serve(t)
	confined(t, func(t *testing.T, s sandbox.Sandbox) {
		listed, err := egress.Parse([]string{web, "localtest.example:443"})
		if err != nil {
			t.Fatal(err)
		}
		c := sh(t, `exec 3<>/dev/tcp/${HTTP_PROXY##*[@/]}
			`)
		c.Argv = []string{"python3", "-c", `
import os, urllib.request
for url in ("http://` + web + `/", "http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data"):
    request = urllib.request.Request(url)
    proxy = urllib.request.ProxyHandler({"http": os.environ["HTTP_PROXY"]})
    os.environ["no_proxy"] = ""
    try: print(urllib.request.build_opener(proxy).open(request, timeout=10).read().decode())
    except Exception as e: print(e)
`}
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("not tried: it is written in Python, which is not here")
		}
		c.Egress = listed
		var told []string
		r := run(t, s.OnRefused(func(refused []string) { told = append(told, refused...) }), c)
		if !slices.Equal(told, r.Refused) {
			t.Errorf("told are %q", told)
		}
		if !r.OK() || strings.Count(string(r.Output), "the outside") != 1 || strings.Count(string(r.Output), "403") != 2 {
			t.Errorf("%s: %s", r, r.Output)
		}
		if len(r.Refused) != 2 || !strings.HasPrefix(r.Refused[1], "169.254.169.254:80: not listed") {
			t.Errorf("refused: %q", r.Refused)
		}
	})
}

// Programs take no proxy to this machine itself: a model on loopback is where it is outside.
func TestAListedPortOfLoopbackIsThereAndNoOther(t *testing.T) {
	web, other := serve(t), serve(t)
	ask := func(address string) string {
		return "exec 3<>/dev/tcp/" + strings.Replace(address, ":", "/", 1) + " && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3; exec 3<&-\n"
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30)) // a socket there would have too long a path
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} { // each with a network of its own
		t.Run(string(mode), func(t *testing.T) {
			s := in(t, mode)
			if slices.ContainsFunc(s.Missing(), func(text string) bool { return strings.Contains(text, "loopback") }) {
				t.Skip("it has no network of its own here")
			}
			listed, err := egress.Parse([]string{web, "example.test:443", web})
			if err != nil {
				t.Fatal(err)
			}
			c := sh(t, ask(web)+ask(other))
			c.Argv[0], c.Egress = "bash", listed
			for _, tmp := range []string{os.TempDir(), long} {
				t.Setenv("TMPDIR", tmp)
				if r := run(t, s, c); strings.Count(string(r.Output), "the outside") != 1 || !strings.Contains(string(r.Output), "refused") {
					t.Errorf("with TMPDIR %s: %s: %s", tmp, r, r.Output)
				}
			}
		})
	}
}

// serve returns the address of a server.
func serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write([]byte("HTTP/1.0 200 OK\r\nContent-Length: 11\r\n\r\nthe outside"))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func BenchmarkAStepCosts(b *testing.B) {
	for _, mode := range []sandbox.Mode{"", sandbox.None, sandbox.Landlock, sandbox.Bwrap} {
		b.Run("mode="+string(mode), func(b *testing.B) {
			var s sandbox.Sandbox
			var err error
			if mode != "" {
				s, err = sandbox.New(b.Context(), mode)
			}
			if err != nil {
				b.Skip("not on this machine: ", err)
			}
			dir := b.TempDir()
			for b.Loop() {
				r, err := s.Run(b.Context(), sandbox.Command{Argv: []string{"true"}, Dir: dir, Env: sandbox.Environ(),
					Limits: sandbox.Limits{Memory: 1 << 30, Disk: 1 << 30, Processes: 1000}})
				if err != nil || !r.OK() {
					b.Fatal(err, r, string(r.Output))
				}
			}
		})
	}
}
