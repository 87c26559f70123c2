package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/tool"
)

type mcpCommand struct {
	running
	Write bool   `name:"write" env:"-" help:"Also offer commands that change state, such as answer, cancel and budget."`
	HTTP  string `name:"listen" placeholder:"HOST:PORT" help:"Serve HTTP there, at /mcp, in place of standard input and output."`
	Token string `name:"listen-token-file" type:"existingfile" placeholder:"FILE" help:"File of the token that --listen wants, as a bearer token. Its holder acts as you."`
	Cert  string `name:"listen-cert" type:"existingfile" placeholder:"FILE" help:"Certificate of --listen, in PEM: it is served by TLS. It is read again for each connection."`
	Key   string `name:"listen-key" type:"existingfile" placeholder:"FILE" help:"Key of --listen-cert."`
}

// Run serves an assistant until it leaves, or until ctx ends.
func (c mcpCommand) Run(ctx context.Context, app *kong.Kong, env *term.Env) error {
	server, err := tool.New(tool.Offer{Grammar: app.Model.Node, Changes: c.Write, Timeout: c.Timeout, Log: env.Log,
		Run: func(ctx context.Context, s tool.Streams, args []string) error { return runFor(ctx, *env, s, args) }})
	if err != nil {
		return err
	}
	if c.HTTP == "" {
		err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(env.Stdin), Writer: stdout{env.Stdout}})
	} else {
		err = c.listen(ctx, env, server)
	}
	if ctx.Err() != nil {
		return nil // it is stopped
	}
	return err
}

// listen serves HTTP until ctx ends.
func (c mcpCommand) listen(ctx context.Context, env *term.Env, m *mcp.Server) error {
	if err := service.CheckAddress("--listen", c.HTTP); err != nil {
		return err
	}
	token, err := c.token()
	if err != nil {
		return err
	}
	server, l, err := tool.Listen(m, c.HTTP, httpserver.Security{Cert: c.Cert, Key: c.Key, Token: token}, env.Log)
	switch {
	case errors.Is(err, httpserver.ErrExposed):
		return service.Usagef("--listen: %w: give it --listen-cert and --listen-key, or a loopback address", err)
	case errors.Is(err, httpserver.ErrSecurity):
		return service.Usagef("--listen-cert, --listen-key: %w", err)
	case errors.Is(err, tool.ErrNoToken):
		return service.Usagef("--listen: %w, whoever reaches it acts as you: --listen-token-file FILE, such as one of `openssl rand -hex 32`", err)
	case err != nil:
		return fmt.Errorf("--listen %w", err)
	}
	scheme := "http"
	if c.Cert != "" {
		scheme = "https"
	}
	fmt.Fprintf(env.Stderr, "listening at %s://%s%s\n", scheme, l.Addr(), tool.Path)
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// token returns what is in --listen-token-file.
func (c mcpCommand) token() (string, error) {
	if c.Token == "" {
		return "", nil
	}
	src, err := os.ReadFile(c.Token)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(src))
	if token == "" {
		return "", service.Usagef("--listen-token-file %s is empty", c.Token)
	}
	return token, nil
}

// runFor runs a command line for an assistant: in the person's name, with no person at
// the keyboard.
func runFor(ctx context.Context, env term.Env, s tool.Streams, args []string) error {
	var g grammar
	parsed, err := service.Parse(&g, service.Call{Name: "signalbox", About: purpose, Args: args, Stdout: s.Out, Stderr: s.Err}, groups())
	if err != nil {
		return err
	}
	env = term.Env{Stdin: s.In, Stdout: s.Out, Stderr: s.Err, JSON: g.JSON, Logging: env.Logging, Log: env.Log, NATS: env.NATS, User: env.User, Now: env.Now}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(&env)
}

// stdout is standard output, which stays open.
type stdout struct{ io.Writer }

// Close implements io.Closer.
func (stdout) Close() error { return nil }
