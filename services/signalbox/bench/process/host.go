// Package process runs the processes of a measurement. Each is this binary, with the
// argument Name. It becomes a server, an orchestrator or agents by RPC over its
// standard input and output. It ends with its standard input, also if the parent is
// killed.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"sync"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/embedded"
)

// Name is the argument of such a process.
const Name = "bench-process"

// Main serves the parent, if the process was started by Start, and ends the process.
func Main(ctx context.Context) {
	if len(os.Args) != 2 || os.Args[1] != Name {
		return
	}
	ctx, stop := service.NotifyContext(ctx)
	defer stop()
	if err := Serve(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(service.ExitFailed)
	}
	os.Exit(service.ExitDone)
}

// Serve serves RPC from in until in or ctx ends, or until something that was started
// ends. It returns the error of what was started.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	h := newHost(ctx)
	calls := rpc.NewServer()
	err := errors.Join(
		calls.RegisterName("Process", &Process{h}), calls.RegisterName("Server", &Server{h}),
		calls.RegisterName("Orchestrator", &Orchestrator{h}), calls.RegisterName("Agents", &Agents{host: h}),
		calls.RegisterName("Baseline", &Baseline{h}), calls.RegisterName("Log", &Log{h}),
	)
	if err != nil {
		return err
	}
	go calls.ServeConn(&pipe{in, out, h.stop})
	<-h.ctx.Done()
	return h.end()
}

// pipe is both streams. It calls gone when the parent closes its end.
type pipe struct {
	io.Reader
	io.Writer
	gone func()
}

func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil {
		p.gone()
	}
	return n, err
}

// Close implements io.Closer.
func (p *pipe) Close() error { p.gone(); return nil }

// host is what runs in a process.
type host struct {
	ctx    context.Context
	stop   context.CancelFunc
	server *embedded.Server // nil: there is none in this process
	access access.Directory // of the keys of the parties; empty: the server has no accounts

	mu   sync.Mutex
	ends []func() error // called in reverse order at the end
}

func newHost(ctx context.Context) *host {
	h := &host{}
	h.ctx, h.stop = context.WithCancel(ctx)
	return h
}

// atEnd registers a function to call when the process ends.
func (h *host) atEnd(f func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends = append(h.ends, f)
}

// end calls the registered functions.
func (h *host) end() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs error
	for len(h.ends) > 0 {
		last := len(h.ends) - 1
		errs = errors.Join(errs, h.ends[last]())
		h.ends = h.ends[:last]
	}
	return errs
}

// run runs f until the process ends. If f ends, the process ends.
func (h *host) run(f func(ctx context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(h.ctx))
	ended := make(chan error, 1)
	go func() {
		ended <- f(ctx)
		h.stop()
	}()
	h.atEnd(func() error { stop(); return <-ended })
}
