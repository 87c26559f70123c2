// Package part is the processes of a measurement. Each is this binary once more,
// an empty process that becomes a server, an orchestrator or agents by what it is
// asked over its standard input and output, and ends with them: however its
// parent ends, nothing of it stays.
package process

import (
	"context"
	"errors"
	"io"
	"net/rpc"
	"sync"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Name is the hidden subcommand that a part is started with.
const Name = "bench-process"

// Command is `signalbox bench-process`.
type Command struct{}

// Run serves the parent until it closes the part's standard input.
func (Command) Run(ctx context.Context, env *term.Env) error {
	return Serve(ctx, env.Stdin, env.Stdout)
}

// Serve answers calls that come from in until that ends, ctx does, or something
// that was started fails, which is the error.
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

// pipe is the two streams as one, and tells when the parent is gone.
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

// host is what a part runs.
type host struct {
	ctx  context.Context
	stop context.CancelFunc

	mu   sync.Mutex
	ends []func() error // what to do at the end, first things last
	inside
}

func newHost(ctx context.Context) *host {
	h := &host{}
	h.ctx, h.stop = context.WithCancel(ctx)
	return h
}

// atEnd has f called when the part ends, before what was registered earlier.
func (h *host) atEnd(f func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends = append(h.ends, f)
}

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

// run has f running until the part ends; f's own end is the part's.
func (h *host) run(f func(ctx context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(h.ctx))
	ended := make(chan error, 1)
	go func() {
		ended <- f(ctx)
		h.stop()
	}()
	h.atEnd(func() error { stop(); return <-ended })
}
