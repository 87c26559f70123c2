package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// Gateway serves the tools of a session over HTTP on loopback, a path a server, to whom it
// has given its token: a program in a sandbox, which sees no credential of a server.
type Gateway struct {
	Host  string // HOST:PORT
	Token string // of Authorization: Bearer

	session *Session
	server  *http.Server
	done    chan struct{}

	mu    sync.Mutex
	calls []string
	lost  int // calls that calls does not have
	fault error
}

const (
	maxCalls = 200              // that are noted
	maxArgs  = 500              // bytes of their arguments
	maxAsked = 1 << 20          // bytes of a request
	margin   = 10 * time.Second // beyond the limit of a call, for its answer
)

// Serve starts a gateway. The caller has to Close it, and then the session.
func (s *Session) Serve() (*Gateway, error) {
	g := &Gateway{Token: rand.Text(), session: s, done: make(chan struct{})}
	l, err := httpserver.Listen("127.0.0.1:0", httpserver.Security{Token: g.Token})
	if err != nil {
		return nil, err
	}
	g.Host = l.Addr().(*net.TCPAddr).String()
	refused := httpserver.NewRefusals(slog.New(slog.DiscardHandler), nil)
	mux := http.NewServeMux()
	for _, c := range s.open {
		mux.Handle("/"+c.Name, httpserver.Bearer(g.handler(c), g.Token, refused))
	}
	g.server = httpserver.New(mux, refused)
	go func() {
		defer close(g.done)
		_ = g.server.Serve(l) // until Close
	}()
	return g, nil
}

// Servers returns the names of the servers that offer tools, and where they are.
func (g *Gateway) Servers() map[string]string {
	all := map[string]string{}
	for _, t := range g.session.Tools {
		all[t.Server] = "http://" + g.Host + "/" + t.Server
	}
	return all
}

// handler serves the tools of one server under the server's own names.
func (g *Gateway) handler(c *connection) http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: c.Name, Version: service.ReadBuild().String()}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{}})
	for _, t := range g.session.Tools {
		if t.server == c {
			s.AddTool(&sdk.Tool{Name: t.Name[len(Prefix+c.Name+"__"):], Description: t.About, InputSchema: t.Schema}, g.tool(t))
		}
	}
	protocol := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxAsked, PropagateRequestCancellation: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until := time.Now().Add(c.Call + margin)
		if err := http.NewResponseController(w).SetWriteDeadline(until); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		protocol.ServeHTTP(w, r)
	})
}

// tool passes calls on.
func (g *Gateway) tool(t Tool) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		text, err := g.session.Call(ctx, t.Name, r.Params.Arguments)
		g.note(t.Name, string(r.Params.Arguments), text, err)
		if err != nil {
			text = err.Error()
		}
		return &sdk.CallToolResult{IsError: err != nil, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
}

func (g *Gateway) note(name, args, text string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if errors.Is(err, brain.ErrInfrastructure) && g.fault == nil {
		g.fault = err
	}
	if len(g.calls) == maxCalls {
		g.lost++
		return
	}
	came := fmt.Sprintf("%d bytes", len(text))
	if err != nil {
		came = "error: " + cut(oneLine(err.Error()), maxSaid)
	}
	g.calls = append(g.calls, fmt.Sprintf("> %s %s: %s", name, cut(oneLine(args), maxArgs), came))
}

// Close ends the gateway. It returns the calls so far, for people, and the fault of a server
// that is required, if there was one.
func (g *Gateway) Close() (calls []string, fault error) {
	_ = g.server.Close()
	<-g.done
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost > 0 {
		return append(g.calls, fmt.Sprintf("and %d more calls", g.lost)), g.fault
	}
	return g.calls, g.fault
}
