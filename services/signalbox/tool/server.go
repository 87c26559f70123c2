package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service"
)

// maxCalls limits the calls at once. More wait.
const maxCalls = 8

// Streams are those of one call.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs a command line, without the program's name. Several calls run at once.
type Run func(ctx context.Context, s Streams, args []string) error

// Offer is what a server offers.
type Offer struct {
	Grammar *kong.Node    // whose commands the tools are
	Changes bool          // the commands that change something, too
	Timeout time.Duration // of a call
	Run     Run
	Log     *slog.Logger
}

// scheme begins the URIs of resources.
const scheme = "signalbox://"

const instructions = "Signalbox takes issues from report to pull request. An instance is one issue; its id is like acme/widgets/42. " +
	"ls lists instances, with waiting those that wait for a person; show has their questions; explain gives the reason why one does not move. "

// New returns a server of the Model Context Protocol that offers the commands.
func New(o Offer) (*mcp.Server, error) {
	protocol := o.Log // which tells of each connection
	if !o.Log.Enabled(context.Background(), slog.LevelDebug) {
		protocol = nil
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "signalbox", Title: "Signalbox", Version: service.ReadBuild().String()},
		&mcp.ServerOptions{Instructions: instructions + legend, Logger: protocol, Capabilities: &mcp.ServerCapabilities{}})
	calls := semaphore.NewWeighted(maxCalls)
	for _, v := range verbs() {
		if v.changes && !o.Changes {
			continue
		}
		node := find(o.Grammar, v.command)
		if node == nil {
			return nil, fmt.Errorf("there is no command %s", v.command)
		}
		args, err := argumentsOf(v, node, o.Timeout)
		if err != nil {
			return nil, fmt.Errorf("the arguments of %s: %w", v.command, err)
		}
		c := call{offer: o, arguments: args, calls: calls}
		s.AddTool(c.tool(node.Help), c.handle)
		c.document(s, node.Help)
	}
	return s, nil
}

// find returns the command of the words, nil if there is none.
func find(root *kong.Node, command string) *kong.Node {
	node := root
	for word := range strings.FieldsSeq(command) {
		var next *kong.Node
		for _, child := range node.Children {
			if child.Name == word {
				next = child
			}
		}
		if node = next; node == nil {
			return nil
		}
	}
	return node
}

// call is the tool of a command, and its resource.
type call struct {
	offer Offer
	arguments
	calls *semaphore.Weighted
}

func (c call) tool(about string) *mcp.Tool {
	return &mcp.Tool{Name: c.verb.name(), Description: about, InputSchema: c.schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !c.verb.changes, DestructiveHint: &c.verb.destroys}}
}

// handle runs the command of a tool. Its error is a result, which the assistant reads.
func (c call) handle(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, stdin, err := c.line(r.Params.Arguments)
	if err != nil {
		return failed(&service.UsageError{Err: err}, ""), nil
	}
	out, err := c.run(ctx, args, stdin)
	if err != nil {
		return failed(err, out), nil
	}
	if !c.verb.own {
		out = quote(out)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out}}}, nil
}

// run runs a command line and returns its output, and its messages.
func (c call) run(ctx context.Context, args []string, stdin string) (string, error) {
	if err := c.calls.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer c.calls.Release(1)
	out, remarks := page{most: MaxOutput}, page{most: maxRemarks}
	err := c.offer.Run(ctx, Streams{In: strings.NewReader(stdin), Out: &out, Err: &remarks}, args)
	c.offer.Log.Debug("call", "args", args, "error", err)
	said := []string{out.String(), remarks.String()}
	return strings.TrimSpace(strings.Join(said, "\n")), err
}

// document adds the resource that the command's result is: of all instances or
// lifecycles, or of the one that the rest of the URI names.
func (c call) document(s *mcp.Server, about string) {
	if c.verb.document == "" {
		return
	}
	kind := "text/plain"
	if c.verb.own && !c.verb.json {
		kind = "application/yaml"
	}
	uri := scheme + c.verb.document
	if len(c.schema.Required) == 0 {
		s.AddResource(&mcp.Resource{URI: uri, Name: c.verb.document, Description: about, MIMEType: kind}, c.read(kind))
		return
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: uri + "/{+" + c.schema.Required[0] + "}", Name: c.verb.document,
		Description: about, MIMEType: kind}, c.read(kind))
}

// read returns the handler of the resource.
func (c call) read(kind string) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		given := map[string]string{}
		if rest, ok := strings.CutPrefix(r.Params.URI, scheme+c.verb.document+"/"); ok && len(c.schema.Required) > 0 {
			name, err := url.PathUnescape(rest)
			if err != nil {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			given[c.schema.Required[0]] = name
		}
		encoded, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		args, stdin, err := c.line(encoded)
		if err != nil {
			return nil, err
		}
		out, err := c.run(ctx, args, stdin)
		if no := new(instance.Refusal); errors.As(err, &no) && (no.Code == instance.CodeUnknownInstance) {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		if err != nil {
			return nil, errors.New(sanitize.Terminal(err.Error()))
		}
		if !c.verb.own {
			out = quote(out)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: kind, Text: out}}}, nil
	}
}
