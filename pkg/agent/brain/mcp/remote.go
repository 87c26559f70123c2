package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote returns the way to a server over HTTP, outside of the sandbox.
func (c *connection) remote() sdk.Transport {
	ctx, end := context.WithCancelCause(context.Background()) // it ends with the session
	transport := &http.Transport{
		DialContext:       func(ctx context.Context, _, address string) (net.Conn, error) { return c.list.Dial(ctx, address) },
		ForceAttemptHTTP2: true,
	}
	c.end = func(err error) {
		end(err)
		transport.CloseIdleConnections()
	}
	c.why = func() string { return "" }
	return &sdk.StreamableClientTransport{Endpoint: c.URL, DisableStandaloneSSE: true, MaxRetries: -1, MaxEventSize: maxMessage,
		HTTPClient: &http.Client{
			Transport: &authorized{next: transport, values: c.values, ctx: ctx},
			CheckRedirect: func(r *http.Request, _ []*http.Request) error {
				return fmt.Errorf("it redirects to %s, which is not followed: name that in url", r.URL.Redacted())
			},
		}}
}

// authorized sends requests with the headers of a server, while ctx lasts.
type authorized struct {
	next   http.RoundTripper
	values map[string]string
	ctx    context.Context
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(a.ctx, func() { cancel(context.Cause(a.ctx)) })
	release := func() {
		stop()
		cancel(nil)
	}
	r = r.Clone(ctx)
	for name, value := range a.values {
		r.Header.Set(name, value)
	}
	answer, err := a.next.RoundTrip(r)
	if err != nil {
		release()
		return nil, err
	}
	answer.Body = &limited{answer.Body, maxAnswer, release}
	return answer, nil
}

// maxAnswer limits the bytes of an answer over HTTP.
const maxAnswer = 8 << 20

// errLong means that an answer is too long.
var errLong = errors.New("the answer is longer than 8 MiB")

// limited is the body of an answer.
type limited struct {
	io.ReadCloser
	left    int
	release func()
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	if l.left -= n; l.left < 0 {
		return n, errLong
	}
	return n, err
}

func (l *limited) Close() error {
	defer l.release()
	return l.ReadCloser.Close()
}
