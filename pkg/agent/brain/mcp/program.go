package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

const (
	maxMessage = 4 << 20  // bytes of a message of a server
	maxStep    = 64 << 20 // bytes of all its messages in a step
	maxTail    = 2 << 10  // bytes kept of its other output
)

// errFlood ends a server that says too much.
var errFlood = fmt.Errorf("it sent more than %d MiB in one step", maxStep>>20)

// program starts the command of a server in the sandbox.
func (c *connection) program(p Place) (sdk.Transport, error) {
	if _, err := osexec.LookPath(c.Command[0]); err != nil {
		return nil, err
	}
	dir, remove, err := p.dir()
	if err != nil {
		return nil, err
	}
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	out, stdout := io.Pipe()
	said := &tail{}
	ctx, end := context.WithCancelCause(context.Background()) // it outlives the start, and ends with the session
	done := make(chan struct{})
	command := sandbox.Command{
		Argv: c.Command, Dir: dir, Env: sandbox.Environ(c.Env...), Stdin: stdin, Stdout: stdout, Stderr: said, Grace: time.Second,
		MaxOutput: maxTail, Egress: c.list, Readable: slices.Concat(p.Readable, c.Read, c.files()), Cache: p.Cache, Limits: p.Limits,
	}
	var result sandbox.Result
	var failed error
	go func() {
		defer close(done)
		result, failed = p.Sandbox.Run(ctx, command)
		_ = stdout.Close() // the session sees that it has ended
		_ = errors.Join(stdin.Close(), remove())
	}()
	c.end = func(err error) {
		end(err)
		_, _ = in.Close(), out.Close() // what it still says is dropped
		<-done
	}
	c.why = func() string {
		select {
		case <-done:
		case <-time.After(endWithin):
			return ""
		}
		switch {
		case failed != nil:
			return failed.Error()
		case len(result.Refused) > 0:
			said.Write([]byte("\nthe sandbox let none of these out: " + strings.ReplaceAll(strings.Join(result.Refused, ", "), "--egress", "hosts")))
		}
		return strings.TrimSuffix("it has ended: "+result.String()+": "+said.String(), ": ")
	}
	return &sdk.IOTransport{Reader: &metered{ReadCloser: out, end: end}, Writer: &timed{in, c.Call}, MaxLineLength: maxMessage}, nil
}

// endWithin is how long an error waits to learn that its program has ended.
const endWithin = 100 * time.Millisecond

// dir returns the directory of a server, and what removes it if it is its own.
func (p Place) dir() (string, func() error, error) {
	if p.Dir != "" {
		return p.Dir, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "signalbox-mcp-*")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// files returns the files and directories that the command names.
func (s Server) files() (all []string) {
	for _, word := range s.Command {
		if filepath.IsAbs(word) {
			all = append(all, word)
		}
	}
	return all
}

// metered reads what a server says, up to a limit.
type metered struct {
	io.ReadCloser
	end  func(error)
	read int
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.ReadCloser.Read(b)
	if m.read += n; m.read > maxStep {
		m.end(errFlood)
		return n, errFlood
	}
	return n, err
}

// timed writes to a server that may not read.
type timed struct {
	*os.File
	within time.Duration
}

func (t *timed) Write(b []byte) (int, error) {
	if err := t.SetWriteDeadline(time.Now().Add(t.within)); err != nil {
		return 0, err
	}
	return t.File.Write(b)
}

// tail keeps the end of what a server prints. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.text), ""))
}
