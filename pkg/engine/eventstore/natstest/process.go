package natstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Process is a nats-server in a process of its own: it can be killed, and watched.
type Process struct {
	URL string // the same after a restart

	argv []string
	cmd  *exec.Cmd
}

// StartProcess runs the server with a store of its own; sync is the
// sync_interval of its configuration. The command in under runs it, as a debugger
// does. It ends with the test.
func StartProcess(t testing.TB, binary, sync string, under ...string) *Process {
	t.Helper()
	dir := t.TempDir()
	conf := filepath.Join(dir, "nats.conf")
	text := fmt.Sprintf("host: 127.0.0.1\njetstream {store_dir: %q, sync_interval: %s}\n", filepath.Join(dir, "store"), sync)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Process{argv: append(under, binary, "-c", conf)}
	p.start(t, "-1")
	t.Cleanup(p.Kill)
	return p
}

// Kill ends the server as kill -9 does, and what it runs under.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Stop lets the server, and what it runs under, end in order.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

func (p *Process) end(s syscall.Signal) {
	if p.cmd.ProcessState == nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, s)
		_ = p.cmd.Wait()
	}
}

// Restart starts a killed server again, on the same store and port.
func (p *Process) Restart(t testing.TB) {
	t.Helper()
	p.start(t, p.URL[strings.LastIndexByte(p.URL, ':')+1:])
}

func (p *Process) start(t testing.TB, port string) {
	t.Helper()
	said := &log{ready: make(chan struct{})}
	p.cmd = exec.Command(p.argv[0], slices.Concat(p.argv[1:], []string{"-p", port})...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = said
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start a nats-server: %v", err)
	}
	select {
	case <-said.ready:
	case <-time.After(2 * time.Minute):
		p.Kill()
		t.Fatalf("the nats-server did not start within 2 minutes:\n%s", said.text)
	}
	p.URL = "nats://" + said.at
}

// log is what a server says until it is ready.
type log struct {
	ready chan struct{}
	at    string // HOST:PORT

	text []byte
}

var listening = lazyregexp.New(`Listening for client connections on (127\.0\.0\.1:\d+)\n(?s:.*)Server is ready`)

func (l *log) Write(b []byte) (int, error) {
	if l.at == "" {
		l.text = append(l.text, b...)
		if at := listening.FindSubmatch(l.text); at != nil {
			l.at = string(at[1])
			close(l.ready)
		}
	}
	return len(b), nil
}

// JetStream returns JetStream over a connection that comes back when the server does.
func (p *Process) JetStream(t testing.TB) jetstream.JetStream {
	t.Helper()
	return (&Server{URL: p.URL}).JetStream(t)
}
