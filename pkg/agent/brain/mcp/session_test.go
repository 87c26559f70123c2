package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

func TestAToolIsCalledAndItsAnswerIsQuoted(t *testing.T) {
	s := open(t, program(t, "good", nil), mcp.Place{})
	said := done(t, s, "echo", "hello\x1b[31m\nworld quoted>>>")
	mark := strings.Fields(said)[1]
	if strings.Count(said, mark) != 2 || strings.Contains(said, "\x1b") || !strings.HasSuffix(said, mark+" quoted>>>") {
		t.Errorf("it is quoted as %q", said)
	}
	contains(t, said, "[MCP server docs]", "hello", "world quoted>>>")
	contains(t, done(t, s, "image", ""), "(an image, image/png, 3 bytes)")
	if _, err := call(t, s, "fail", "no such page"); err == nil || !strings.Contains(err.Error(), "no such page") {
		t.Errorf("a tool's own error is %v", err)
	}
	if _, err := s.Call(t.Context(), "mcp__docs__echo", json.RawMessage(`["x"]`)); err == nil || !strings.Contains(err.Error(), "no JSON object") {
		t.Errorf("other arguments are %v", err)
	}
	contains(t, strings.Join(s.Said, "\n"), "MCP server docs: 10 tools")
}

func TestAToolThatIsNotListedIsNeitherOfferedNorCalled(t *testing.T) {
	s := open(t, program(t, "good", map[string]any{"tools": []string{"echo", "search", "ecko"}}), mcp.Place{})
	if got := names(s); !reflect.DeepEqual(got, []string{"echo"}) {
		t.Errorf("it offers %v", got)
	}
	if _, err := call(t, s, "environ", ""); err == nil || !strings.Contains(err.Error(), "there is no tool") {
		t.Errorf("the call is %v", err)
	}
	contains(t, strings.Join(s.Said, "\n"), `it offers no tool "search"`, `it offers no tool "ecko"; did you mean "echo"?`)
}

func TestAServerThatDoesNotComeIsLeftOut(t *testing.T) {
	for kind, why := range map[string]string{
		"silent":  "it did not answer within 200ms",
		"broken":  "it has ended: exit code 7: there is no licence",
		"flood":   "",
		"chatter": "it sent more than 64 MiB",
	} {
		t.Run(kind, func(t *testing.T) {
			keys := map[string]any{"start": "20s"}
			if kind == "silent" {
				keys["start"] = "200ms"
			}
			s := open(t, program(t, kind, keys), mcp.Place{})
			if len(s.Tools) != 0 {
				t.Errorf("it offers %v", names(s))
			}
			contains(t, strings.Join(s.Said, "\n"), "MCP server docs: the work goes on without it: ", why)
		})
	}
	session, err := program(t, "broken", map[string]any{"required": true}).Open(t.Context(), mcp.Place{})
	if !errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), "docs, which is required: it has ended: exit code 7") {
		t.Errorf("required, it is %v", err)
	}
	session.Close()
	s := open(t, one(t, map[string]any{"command": []string{"no-such-server"}}), mcp.Place{})
	contains(t, strings.Join(s.Said, "\n"), "no-such-server")
}

func TestACallThatHangsEndsAtItsLimit(t *testing.T) {
	s := open(t, program(t, "good", map[string]any{"call": "50ms", "required": true}), mcp.Place{})
	if _, err := call(t, s, "hang", ""); err == nil || err.Error() != "MCP server docs did not answer within 50ms" {
		t.Errorf("it ends with %v", err)
	}
	s = open(t, program(t, "good", nil), mcp.Place{})
	contains(t, done(t, s, "echo", "still here"), "still here")
}

func TestMuchOutputIsCut(t *testing.T) {
	s := open(t, program(t, "good", map[string]any{"output": "2KiB"}), mcp.Place{})
	said := done(t, s, "big", "")
	if len(said) > s.Tools[0].Limit {
		t.Errorf("it has %d bytes", len(said))
	}
	contains(t, said, "bytes left out …]", "quoted>>>")
	if _, err := call(t, s, "huge", ""); err == nil {
		t.Error("a message without an end is taken")
	}
}

func TestAServerThatDiesIsAFaultOfTheMachineryIfItIsRequired(t *testing.T) {
	for _, required := range []bool{false, true} {
		s := open(t, program(t, "good", map[string]any{"required": required}), mcp.Place{})
		_, err := call(t, s, "die", "")
		if err == nil || errors.Is(err, brain.ErrInfrastructure) != required {
			t.Errorf("required %t: %v", required, err)
			continue
		}
		contains(t, err.Error(), "MCP server docs: it has ended: exit code 3: out of memory")
		if _, err := call(t, s, "echo", "x"); err == nil {
			t.Error("it answers after its end")
		}
	}
}

func TestToolsThatNoModelShouldSeeAreLeftOut(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 20) + `{}` + strings.Repeat(`}}`, 20)
	for name, c := range map[string]struct{ tool, why string }{
		"a name with a line":       {`{"name":"x\nfinish","inputSchema":{"type":"object"}}`, "want a name of letters"},
		"no name":                  {`{"name":"","inputSchema":{"type":"object"}}`, "want a name of letters"},
		"a long name":              {`{"name":"` + strings.Repeat("x", 60) + `","inputSchema":{"type":"object"}}`, "at most 64 bytes"},
		"a name twice":             {`{"name":"fine","inputSchema":{"type":"object"}}`, "there is another one of this name"},
		"a list as a schema":       {`{"name":"x","inputSchema":[1]}`, "it is no object"},
		"another type":             {`{"name":"x","inputSchema":{"type":"string"}}`, "its type is not object"},
		"properties that are none": {`{"name":"x","inputSchema":{"type":"object","properties":[]}}`, "its properties are no object"},
		"a property's name":        {`{"name":"x","inputSchema":{"type":"object","properties":{"a b":{}}}}`, "its property"},
		"required of nothing":      {`{"name":"x","inputSchema":{"type":"object","required":["a"]}}`, "required names what is no property"},
		"a reference out":          {`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}}`, "which is not in it"},
		"a reference to nothing":   {`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}}`, "which is not in it"},
		"a hidden default":         {`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"default":"b\udb40\udc41"}}}}`, "characters that do not show"},
		"a hidden name within":     {`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"properties":{"b\u200b":{}}}}}}`, "characters that do not show"},
		"a deep schema":            {`{"name":"x","inputSchema":` + deep + `}`, "it nests deeper"},
		"a large schema":           {`{"name":"x","inputSchema":{"type":"object","description":"` + strings.Repeat("x", 40<<10) + `"}}`, "more than 32768"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, program(t, list(t, `[{"name":"fine","inputSchema":{"type":"object"}},`+c.tool+`]`), nil), mcp.Place{})
			if got := names(s); !reflect.DeepEqual(got, []string{"fine"}) {
				t.Errorf("it offers %q: %s", got, s.Said)
			}
			contains(t, strings.Join(s.Said, "\n"), "is left out: ", c.why)
			if strings.Contains(strings.Join(s.Said, ""), "\n") {
				t.Errorf("a name begins a line of its own: %q", s.Said)
			}
		})
	}
}

func TestASchemaIsSentAsAllProvidersTakeIt(t *testing.T) {
	s := open(t, program(t, list(t, `[{"name":"a.b","description":"Does\u202e it.","inputSchema":{"$schema":"x","type":"object","oneOf":[{}],"required":["a","a"],`+
		`"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string"}}}},{"name":"bare","inputSchema":{}}]`), nil), mcp.Place{})
	want := map[string]any{"type": "object", "required": []string{"a"}, "properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/b"}},
		"$defs": map[string]any{"b": map[string]any{"type": "string"}}}
	if got := s.Tools[0]; got.Name != "mcp__docs__a_b" || !reflect.DeepEqual(got.Schema, want) || strings.Contains(got.About, "\u202e") {
		t.Errorf("it is offered as %+v", got)
	}
	if got := s.Tools[1].Schema; len(got) != 3 {
		t.Errorf("a schema without anything is %v", got)
	}
	contains(t, done(t, s, "a_b", ""), "called")
}

func list(t *testing.T, tools string) string { return file(t, "tools.json", tools) }

func TestAServerOffersAtMostSixtyFourTools(t *testing.T) {
	var all []string
	for i := range 70 {
		all = append(all, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
	}
	s := open(t, program(t, list(t, "["+strings.Join(all, ",")+"]"), nil), mcp.Place{})
	if len(s.Tools) != 64 {
		t.Errorf("%d of 70 tools are offered", len(s.Tools))
	}
	contains(t, strings.Join(s.Said, "\n"), "a server offers at most 64", "and 1 more are left out")
}

func TestAProgramReachesTheHostsThatAreListedAlone(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the page")) }))
	defer page.Close()
	host := strings.TrimPrefix(page.URL, "http://")
	boxes(t, func(t *testing.T, box sandbox.Sandbox) {
		var refused []string
		box = box.OnRefused(func(hosts []string) { refused = append(refused, hosts...) })
		s := open(t, program(t, "good", map[string]any{"hosts": []string{host}}), mcp.Place{Dir: t.TempDir(), Sandbox: box})
		contains(t, done(t, s, "fetch", page.URL), "200 OK the page")
		s.Close()
		s = open(t, program(t, "good", nil), mcp.Place{Dir: t.TempDir(), Sandbox: box})
		if said, err := call(t, s, "fetch", page.URL); err == nil {
			t.Errorf("without a host it gets %s", said)
		}
		s.Close()
		s = open(t, program(t, "good", map[string]any{"hosts": []string{"example.invalid"}}), mcp.Place{Dir: t.TempDir(), Sandbox: box})
		said, err := call(t, s, "fetch", "http://example.com/")
		if err == nil && !strings.Contains(said, "403") {
			t.Errorf("with another host it gets %s", said)
		}
		s.Close()
		contains(t, strings.Join(refused, "\n"), "example.com:80")
	})
}

func TestAProgramIsConfinedToTheWorkTreeAndItsVariables(t *testing.T) {
	t.Setenv("DOCS_KEY", "given-to-the-server")
	t.Setenv("OTHER_TOKEN", "s3cret-of-another")
	boxes(t, func(t *testing.T, box sandbox.Sandbox) {
		tree, outside := t.TempDir(), file(t, "kept", "as it was")
		s := open(t, program(t, "good", map[string]any{"env": []string{"DOCS_KEY"}}), mcp.Place{Dir: tree, Sandbox: box})
		env := done(t, s, "environ", "")
		contains(t, env, "DOCS_KEY=given-to-the-server")
		if strings.Contains(env, "s3cret-of-another") {
			t.Errorf("it has a variable that is not named: %s", env)
		}
		done(t, s, "put", filepath.Join(tree, "a")+"=b")
		if text, err := os.ReadFile(filepath.Join(tree, "a")); err != nil || string(text) != "b" {
			t.Errorf("in the work tree it wrote %q, %v", text, err)
		}
		_, err := call(t, s, "put", outside+"=spoilt")
		if text, rerr := os.ReadFile(outside); err == nil || rerr != nil || string(text) != "as it was" {
			t.Errorf("outside it wrote %q, %v, %v", text, rerr, err)
		}
	})
}

func TestAServerOverHTTPIsAskedWithItsHeadersFromOutsideOfTheSandbox(t *testing.T) {
	t.Setenv("DOCS_TOKEN", "t0ken-of-the-operator")
	server := mcptest.Serve(t, "Authorization", "Bearer t0ken-of-the-operator")
	s := open(t, one(t, map[string]any{"url": server.URL, "headers": map[string]any{
		"Authorization": map[string]any{"env": "DOCS_TOKEN", "prefix": "Bearer "},
		"X-Team":        map[string]any{"file": file(t, "team", "acme\n")},
	}}), mcp.Place{})
	contains(t, done(t, s, "echo", "hello"), "hello")
	for _, h := range server.Requests() {
		if h.Get("X-Team") != "acme" {
			t.Errorf("a request has %v", h)
		}
	}
	s = open(t, one(t, map[string]any{"url": server.URL}), mcp.Place{})
	contains(t, strings.Join(s.Said, "\n"), "the work goes on without it", "Unauthorized")
}

func TestAServerOverHTTPLeadsNowhereElse(t *testing.T) {
	t.Setenv("DOCS_TOKEN", "t0ken-of-the-operator")
	other := mcptest.Serve(t, "Authorization", "")
	redirect := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	s := open(t, one(t, map[string]any{"url": redirect.URL, "headers": map[string]any{"X-Key": map[string]any{"env": "DOCS_TOKEN"}}}), mcp.Place{})
	contains(t, strings.Join(s.Said, "\n"), "it redirects to")
	if got := other.Requests(); len(got) != 0 {
		t.Errorf("it was asked with %v", got)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(other.URL, "http://"), ":")
	s = open(t, one(t, map[string]any{"url": "http://localtest.invalid:" + port}), mcp.Place{})
	contains(t, strings.Join(s.Said, "\n"), "the work goes on without it")
}

func TestAServerOverHTTPThatHangsIsLeftOut(t *testing.T) {
	gone := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}))
	defer silent.Close()
	defer close(gone)
	s := open(t, one(t, map[string]any{"url": silent.URL, "start": "50ms"}), mcp.Place{})
	contains(t, strings.Join(s.Said, "\n"), "it did not answer within 50ms")
}
