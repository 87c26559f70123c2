package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/service"
)

// Place is where a step runs, and with it the servers that are commands.
type Place struct {
	Dir      string // the work tree; empty: there is none
	Sandbox  sandbox.Sandbox
	Limits   sandbox.Limits
	Cache    string   // see sandbox.Command
	Readable []string // more paths
}

// Session is the servers of one step. One goroutine at a time opens and closes it; Call is
// safe for concurrent use.
type Session struct {
	// Tools are those that are offered, by server and name. They stay as they were at the
	// start, whatever the servers say later.
	Tools []Tool
	// Said has lines for people: what each server offers, and what is left out, and why.
	Said []string
	// Silent are the names of the servers that did not answer, and are left out.
	Silent []string

	open []*connection
}

// connection is a server that has been reached.
type connection struct {
	Server
	session *sdk.ClientSession
	end     func(error)   // ends what serves it
	why     func() string // why it has ended; "": it is not known
}

// Open starts and asks all servers. One that does not answer is left out, which Said says; if
// it is required the error wraps brain.ErrInfrastructure. The caller has to Close the session.
func (s Servers) Open(ctx context.Context, p Place) (*Session, error) {
	type answer struct {
		c    *connection
		kit  []Tool
		said []string
		err  error
	}
	answers := make([]answer, len(s))
	var wait sync.WaitGroup
	for i, one := range s {
		wait.Go(func() {
			a := &answers[i]
			if a.c, a.err = one.connect(ctx, p); a.err == nil {
				a.kit, a.said, a.err = a.c.tools(ctx)
			}
		})
	}
	wait.Wait()
	session := &Session{}
	var missing error
	for i, a := range answers {
		name := s[i].Name
		if a.c != nil {
			session.open = append(session.open, a.c)
		}
		if a.err != nil {
			why := a.err.Error()
			if a.c != nil && !errors.Is(a.err, errLate) {
				why = cmp.Or(a.c.why(), why)
			}
			why = sanitize.TerminalLine(why)
			session.Silent = append(session.Silent, name)
			session.say(name, "the work goes on without it: %s", why)
			if s[i].Required && missing == nil {
				missing = fmt.Errorf("%w: MCP server %s, which is required: %s", brain.ErrInfrastructure, name, why)
			}
			continue
		}
		session.Tools = append(session.Tools, a.kit...)
		session.say(name, "%d tools", len(a.kit))
		for _, line := range a.said {
			session.say(name, "%s", line)
		}
	}
	if ctx.Err() != nil {
		missing = context.Cause(ctx)
	}
	if missing != nil {
		session.Close()
		return session, missing
	}
	return session, nil
}

func (s *Session) say(name, format string, args ...any) {
	s.Said = append(s.Said, "MCP server "+name+": "+fmt.Sprintf(format, args...))
}

// connect starts the server, or reaches it, and agrees on a version. A connection that is
// returned with an error has to be ended, too.
func (s Server) connect(ctx context.Context, p Place) (*connection, error) {
	c := &connection{Server: s}
	var transport sdk.Transport
	var err error
	if s.URL != "" {
		transport = c.remote()
	} else if transport, err = c.program(p); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeoutCause(ctx, s.Start, fmt.Errorf("%w within %s", errLate, s.Start))
	defer cancel()
	defer context.AfterFunc(within, func() { c.end(context.Cause(within)) })() // the SDK would wait for a farewell, too
	client := sdk.NewClient(&sdk.Implementation{Name: "signalbox", Version: service.ReadBuild().String()},
		&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
	c.session, err = client.Connect(within, transport, nil)
	return c, caused(within, err)
}

// errLate means that a limit of time has ended the wait for a server.
var errLate = errors.New("it did not answer")

// caused returns the cause of the context's end in place of what follows from it.
func caused(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Call calls a tool, which is one of Tools, by its name. The answer of the server is quoted. An
// error is the caller's to read, unless it wraps brain.ErrInfrastructure.
func (s *Session) Call(ctx context.Context, name string, args json.RawMessage) (string, error) {
	i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no tool %q", name)
	}
	t := s.Tools[i]
	if text := strings.TrimSpace(string(args)); text == "" || text == "null" {
		args = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil || object == nil {
		return "", errors.New("the arguments are no JSON object")
	}
	within, cancel := context.WithTimeoutCause(ctx, t.server.Call, fmt.Errorf("MCP server %s did not answer within %s", t.server.Name, t.server.Call))
	defer cancel()
	result, err := t.server.session.CallTool(within, &sdk.CallToolParams{Name: t.own, Arguments: args})
	if err != nil {
		return "", t.server.fault(within, err)
	}
	text := t.quote(result)
	if result.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

// fault is why a call has no answer.
func (c *connection) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := c.why()
	err = fmt.Errorf("MCP server %s: %s", c.Name, cut(sanitize.TerminalLine(cmp.Or(why, err.Error())), maxSaid))
	if why != "" && c.Required {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return err
}

// Close ends all servers.
func (s *Session) Close() {
	if s == nil {
		return
	}
	var wait sync.WaitGroup
	for _, c := range s.open {
		wait.Go(c.close)
	}
	wait.Wait()
	s.open = nil
}

// closeWithin is how long a server may take to say goodbye.
const closeWithin = time.Second

func (c *connection) close() {
	late := time.AfterFunc(closeWithin, func() { c.end(errClosed) })
	defer late.Stop()
	if c.session != nil {
		_ = c.session.Close() // it may be gone
	}
	c.end(errClosed)
}

// errClosed ends what serves a connection.
var errClosed = errors.New("the step has ended")

// maxSaid is how much people are shown of what a server says, in bytes.
const maxSaid = 500

// oneLine returns a text that is safe on a terminal, in one line.
func oneLine(text string) string { return sanitize.TerminalLine(text) }

// cut shortens a text to whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
