package bare

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Limits bounds what requests of git clients may hold.
type Limits struct {
	Processes int           // git processes at a time; further requests wait
	Wait      time.Duration // for a process, before a request is refused
	Idle      time.Duration // in which a client sends nothing, or takes nothing
}

// DefaultLimits returns limits that a team's clones do not reach.
func DefaultLimits() Limits {
	return Limits{Processes: 16, Wait: 30 * time.Second, Idle: 30 * time.Second}
}

var errBusy = errors.New("as many git processes run as may")

// slots has a token for each git process that runs for a request.
type slots chan struct{}

// take waits for a slot, and returns what frees it. The error is errBusy or that of ctx.
func (s slots) take(ctx context.Context, wait time.Duration) (free func(), err error) {
	free = func() { <-s }
	select {
	case s <- struct{}{}:
		return free, nil
	default:
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case s <- struct{}{}:
		return free, nil
	case <-over.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// connection is the connection of one request. Reading the body and writing the answer
// fail once the client has been idle for too long.
type connection struct {
	w    http.ResponseWriter
	body io.Reader
	idle time.Duration
}

// Read implements io.Reader.
func (c *connection) Read(p []byte) (int, error) {
	// A writer that is no connection, as in a test, has no deadlines.
	control := http.NewResponseController(c.w)
	_ = control.SetReadDeadline(time.Now().Add(c.idle))
	n, err := c.body.Read(p)
	if err == io.EOF {
		// The server reads on, to learn that the client left. That has no end.
		_ = control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Write implements io.Writer. It sends at once: git's progress is for people.
func (c *connection) Write(p []byte) (int, error) {
	control := http.NewResponseController(c.w)
	_ = control.SetWriteDeadline(time.Now().Add(c.idle))
	n, err := c.w.Write(p)
	if err == nil {
		// A writer that cannot flush sends at the end.
		_ = control.Flush()
	}
	return n, err
}
