package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

// Prefix begins the names of tools of servers.
const Prefix = "mcp__"

// Tool is a tool that a server offers.
type Tool struct {
	Name   string         // mcp__SERVER__TOOL, as models and coding agents know it
	Server string         // its name
	About  string         // what the server says of it
	Schema map[string]any // of its arguments: an object, without what providers of models refuse
	Limit  int            // bytes that a result has at most, with its marks

	own    string // as the server knows it
	server *connection
}

const (
	maxTools = 64   // that a server offers
	maxSeen  = 1000 // that it names
	maxAbout = 2 << 10
	maxLeft  = 5 // lines about tools that are left out
	maxName  = 64
)

// toolName is a name of a tool. A dot stands for an underscore in names for models.
var toolName = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

// tools returns the tools of the server that it may offer, and what is to be said of others.
func (c *connection) tools(ctx context.Context) (kit []Tool, said []string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Start, fmt.Errorf("%w what tools it has within %s", errLate, c.Start))
	defer cancel()
	var left, own []string
	seen, named := 0, map[string]bool{}
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, nil, caused(ctx, err)
		}
		if seen++; seen > maxSeen {
			return nil, nil, fmt.Errorf("it names more than %d tools", maxSeen)
		}
		own = append(own, t.Name)
		if len(c.Tools) > 0 && !slices.Contains(c.Tools, t.Name) {
			continue
		}
		tool, err := c.tool(t)
		switch {
		case err == nil && named[tool.Name]:
			err = errors.New("there is another one of this name")
		case err == nil && len(kit) == maxTools:
			err = fmt.Errorf("a server offers at most %d: name those that are needed in tools", maxTools)
		}
		if err != nil {
			left = append(left, fmt.Sprintf("its tool %s is left out: %v", yamlfile.Quoted(sanitize.TerminalLine(t.Name)), err))
			continue
		}
		named[tool.Name] = true
		kit = append(kit, tool)
	}
	for _, name := range c.Tools {
		if !slices.ContainsFunc(kit, func(t Tool) bool { return t.own == name }) {
			text := "it offers no tool " + yamlfile.Quoted(name)
			if near := workflow.Nearest(name, own); near != "" && near != name {
				text += "; did you mean " + yamlfile.Quoted(sanitize.TerminalLine(near)) + "?"
			}
			left = append(left, text)
		}
	}
	if over := len(left) - maxLeft; over > 0 {
		left = append(left[:maxLeft], fmt.Sprintf("and %d more are left out", over))
	}
	slices.SortFunc(kit, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return kit, left, nil
}

// Offered returns the name by which brains are offered a tool of the server.
func (s Server) Offered(tool string) string {
	return Prefix + s.Name + "__" + strings.ReplaceAll(tool, ".", "_")
}

// tool returns a tool as it is offered. An error says why it is not.
func (c *connection) tool(t *sdk.Tool) (Tool, error) {
	name := c.Offered(t.Name)
	if !toolName.MatchString(t.Name) || len(name) > maxName {
		return Tool{}, fmt.Errorf("want a name of letters, digits, underscores, dashes and dots, with %s of at most %d bytes", Prefix+c.Name+"__", maxName)
	}
	schema, err := schemaOf(t.InputSchema)
	if err != nil {
		return Tool{}, fmt.Errorf("its schema: %w", err)
	}
	about := "Of the MCP server " + c.Name + ". " + cut(sanitize.Terminal(t.Description), maxAbout)
	return Tool{Name: name, Server: c.Name, About: about, Schema: schema, Limit: c.Output + maxMarks, own: t.Name, server: c}, nil
}

// maxMarks is more than marks and what is said in them have, in bytes.
const maxMarks = 1 << 10

// quote returns what a server answers between marks that it cannot forge.
func (t Tool) quote(r *sdk.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, textOf(c))
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	if r.NeedsInput() {
		parts = append(parts, "(it asks for more, which nobody can give here)")
	}
	text := strings.Join(parts, "\n")
	over := len(text) - t.server.Output
	if over > 0 {
		text = strings.ToValidUTF8(text[:t.server.Output], "")
	}
	text = cut(sanitize.Terminal(text), t.server.Output)
	if over > 0 {
		text += fmt.Sprintf("\n[… %d bytes left out …]", over)
	}
	if text == "" {
		text = "(nothing)"
	}
	mark := rand.Text()
	return fmt.Sprintf("<<<quoted %s\n[MCP server %s]\n%s\n%s quoted>>>", mark, t.Server, text, mark)
}

// textOf returns the text of a part of an answer, or what it is in place of one.
func textOf(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("(an image, %s, %d bytes)", sanitize.TerminalLine(c.MIMEType), len(c.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("(audio, %s, %d bytes)", sanitize.TerminalLine(c.MIMEType), len(c.Data))
	case *sdk.ResourceLink:
		return "(a link to " + sanitize.TerminalLine(c.URI) + ")"
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return ""
		}
		if c.Resource.Text == "" {
			return fmt.Sprintf("(%s, %d bytes)", sanitize.TerminalLine(c.Resource.URI), len(c.Resource.Blob))
		}
		return c.Resource.Text
	}
	return "(something that is no text)"
}
