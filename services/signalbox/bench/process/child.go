package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Child is the parent's side of a process.
type Child struct {
	Name string // its name in reports, such as "orchestrator"

	cmd   *exec.Cmd
	stdin io.Closer
	calls *rpc.Client
	said  *strings.Builder // its standard error
}

// Start starts a process. The caller closes it.
func Start(name string) (*Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &Child{Name: name, cmd: exec.Command(self, Name), said: new(strings.Builder)}
	c.cmd.Stderr = c.said
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	c.stdin = in
	c.calls = rpc.NewClient(&pipe{out, in, func() {}})
	return c, nil
}

// Call calls a method of the process and waits for the result.
func (c *Child) Call(ctx context.Context, method string, args, reply any) error {
	call := c.calls.Go(method, args, reply, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
		if call.Error != nil && !errors.As(call.Error, new(rpc.ServerError)) {
			return fmt.Errorf("%s: %s: the process is gone: %w", c.Name, method, errors.Join(call.Error, c.Close()))
		}
		if call.Error != nil {
			return fmt.Errorf("%s: %s: %w", c.Name, method, call.Error)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %s: %w", c.Name, method, context.Cause(ctx))
	}
}

// Usage returns what the process has used since its start.
func (c *Child) Usage(ctx context.Context) (Usage, error) {
	var u Usage
	err := c.Call(ctx, "Process.Usage", None{}, &u)
	return u, err
}

// ending is how long a process may take to end.
const ending = 30 * time.Second

// Close ends the process and waits for its end. It may be called again.
func (c *Child) Close() error {
	if c.cmd.ProcessState != nil {
		return nil
	}
	_ = c.stdin.Close()
	late := time.AfterFunc(ending, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", c.Name, err, strings.TrimSpace(c.said.String()))
	}
	return nil
}

// Kill kills the process and waits for its end.
func (c *Child) Kill() error {
	err := c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it says that it was killed
	return err
}
