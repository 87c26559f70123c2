// Package mcptest is servers of the Model Context Protocol for tests: over standard input
// and output, as the test binary runs itself again, and over HTTP.
package mcptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// word is the first argument of a process that is to be a server.
const word = "mcp-server-of-a-test"

// Command returns the command of a server of a kind: good, one of those in Intercept, or a
// file with the list of its tools.
func Command(t testing.TB, kind string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, word, kind}
}

// Intercept makes a process that Command names a server, and ends it. TestMain calls it
// first.
func Intercept() {
	if len(os.Args) < 3 || os.Args[1] != word {
		return
	}
	switch kind := os.Args[2]; kind {
	case "good":
		if err := server().Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, err)
		}
	case "silent": // never answers
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "broken": // ends at once
		fmt.Fprintln(os.Stderr, "there is no licence")
		os.Exit(7)
	case "flood": // one message without an end
		for {
			fmt.Print(strings.Repeat("x", 1<<16))
		}
	case "chatter": // messages without an end
		for {
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 1<<20) + `"}}`)
		}
	default: // offers what a file says, which has a JSON list of tools
		tools, err := os.ReadFile(kind)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		raw(tools)
	}
	os.Exit(0)
}

// server is a server whose tools do what a test asks.
func server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{}})
	add := func(name, about string, do func(ctx context.Context, text string) (*sdk.CallToolResult, error)) {
		schema := map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}, "additionalProperties": false}
		s.AddTool(&sdk.Tool{Name: name, Description: about, InputSchema: schema}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var args struct{ Text string }
			if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
				return nil, err
			}
			return do(ctx, args.Text)
		})
	}
	say := func(text string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
	add("echo", "Says a text again.", func(_ context.Context, text string) (*sdk.CallToolResult, error) { return say(text) })
	add("environ", "Says the variables of the server.", func(context.Context, string) (*sdk.CallToolResult, error) {
		return say(strings.Join(os.Environ(), "\n"))
	})
	add("fetch", "Gets a URL.", func(ctx context.Context, url string) (*sdk.CallToolResult, error) {
		text, err := get(ctx, url)
		if err != nil {
			return nil, err
		}
		return say(text)
	})
	add("put", "Writes a file.", func(_ context.Context, text string) (*sdk.CallToolResult, error) {
		path, content, _ := strings.Cut(text, "=")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return nil, err
		}
		return say("written")
	})
	add("fail", "Fails.", func(_ context.Context, text string) (*sdk.CallToolResult, error) {
		r, err := say(text)
		r.IsError = true
		return r, err
	})
	add("big", "Says much.", func(context.Context, string) (*sdk.CallToolResult, error) { return say(strings.Repeat("much ", 1<<18)) })
	add("huge", "Says more than a message may have.", func(context.Context, string) (*sdk.CallToolResult, error) {
		return say(strings.Repeat("more ", 2<<20))
	})
	add("image", "Shows an image.", func(context.Context, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: []byte("PNG")}}}, nil
	})
	add("hang", "Never answers.", func(ctx context.Context, _ string) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("die", "Ends the server.", func(context.Context, string) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
		return nil, nil
	})
	return s
}

func get(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.Status + " " + string(text), err
}

// raw is a server that offers a list of tools as it is, which no SDK would.
func raw(tools json.RawMessage) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"method not found"}`
		switch r.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`
		case "tools/list":
			answer = fmt.Sprintf(`"result":{"tools":%s}`, tools)
		case "tools/call":
			answer = `"result":{"content":[{"type":"text","text":"called"}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", r.ID, answer)
	}
}

// HTTP is a good server over HTTP that notes the headers of its requests.
type HTTP struct {
	URL string

	mu  sync.Mutex
	all []http.Header
}

// Serve starts a server that takes requests with a header alone. It ends with the test.
func Serve(t testing.TB, header, value string) *HTTP {
	h := &HTTP{}
	one := server()
	protocol := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return one }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.all = append(h.all, r.Header.Clone())
		h.mu.Unlock()
		if r.Header.Get(header) != value {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		protocol.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	h.URL = s.URL + "/mcp"
	return h
}

// Requests returns the headers of the requests so far.
func (h *HTTP) Requests() []http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]http.Header(nil), h.all...)
}
