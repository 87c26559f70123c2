package tool

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// Path is where a server is served over HTTP.
const Path = "/mcp"

// maxRequest limits the bytes of a request.
const maxRequest = 1 << 20

// ErrNoToken means that a server over HTTP has no token: whoever reaches it acts as who
// runs it.
var ErrNoToken = errors.New("it needs a token")

// Listen returns a server over HTTP, and where it listens. Each request stands for
// itself, and brings the token of s. Beyond this machine it is httpserver.ErrExposed
// without TLS.
func Listen(m *mcp.Server, addr string, s httpserver.Security, log *slog.Logger) (*http.Server, net.Listener, error) {
	if s.Token == "" {
		return nil, nil, ErrNoToken
	}
	l, err := httpserver.Listen(addr, s)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", addr, err)
	}
	var names []string
	if !httpserver.Local(l) {
		names = []string{httpserver.AnyName} // how others know this machine is theirs to choose
	}
	refused := httpserver.NewRefusals(log, nil) // this process serves no metrics
	mux := http.NewServeMux()
	mux.Handle(Path, httpserver.Bearer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, Logger: log, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
	}), s.Token, refused))
	return httpserver.New(mux, refused, names...), l, nil
}
