package mcp

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/textproto"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/yamltext"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

// serverName is a server's name. It has no underscore: two of them end it in the name of a
// tool.
var serverName = lazyregexp.New(`^[a-z][a-z0-9-]{0,23}$`)

// variable is the name of a variable, or a pattern of names.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_*]*$`)

// reserved are the headers that the protocol needs.
var reserved = []string{"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id", "Transfer-Encoding"}

// Parse reads a file; name only serves to say where.
func Parse(name string, src []byte) (Servers, error) {
	r := &reader{Reader: yamlfile.Reader{File: name}}
	var doc yamlfile.Document
	switch err := yamltext.Unmarshal(src, &doc); {
	case errors.Is(err, io.EOF) || err == nil && doc.Body == nil:
		r.Add(r.Top(), "it is empty: want servers, by their names")
	case err != nil:
		r.Syntax(err)
	default:
		r.object(doc.Body, map[string]take{"servers": r.servers})
	}
	if r.Problems() == 0 && len(r.all) == 0 {
		r.Add(r.Top(), "it has no servers: want some, by their names")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(r.all, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return r.all, nil
}

// reader takes a tree apart and collects everything that is wrong with it.
type reader struct {
	yamlfile.Reader
	all Servers
}

// take puts one node where it belongs.
type take func(ast.Node)

// object reads a mapping whose keys are known.
func (r *reader) object(n ast.Node, known map[string]take) {
	names := slices.Sorted(maps.Keys(known))
	r.Entries(n, func(key string, at workflow.Position, value ast.Node) {
		if t, ok := known[key]; ok {
			t(value)
			return
		}
		if workflow.Nearest(key, names) == "" {
			r.Add(at, "unknown key %s: want one of %s", yamlfile.Quoted(key), strings.Join(names, ", "))
			return
		}
		r.Unknown(at, "key", key, names)
	})
}

// servers reads the servers by name.
func (r *reader) servers(n ast.Node) {
	r.Entries(n, func(name string, at workflow.Position, value ast.Node) {
		if !serverName.MatchString(name) {
			r.Add(at, "server %s: want a name of at most 24 small letters, digits and dashes", yamlfile.Quoted(name))
			return
		}
		s := Server{Name: name, at: at, Start: defaultStart, Call: defaultCall, Output: defaultOutput}
		before := r.Problems()
		r.object(value, map[string]take{
			"command": r.list(&s.Command), "env": r.list(&s.Env), "read": r.list(&s.Read), "hosts": r.list(&s.Hosts),
			"url": r.text(&s.URL), "headers": r.headers(&s.Headers), "roles": r.list(&s.Roles), "tools": r.list(&s.Tools),
			"start": r.duration(&s.Start), "call": r.duration(&s.Call), "output": r.size(&s.Output), "required": r.flag(&s.Required),
		})
		if r.Problems() == before {
			r.check(&s)
		}
		r.all = append(r.all, s)
	})
}

// check refuses what does not go together, and prepares what the server may reach.
func (r *reader) check(s *Server) {
	wrong := func(format string, args ...any) {
		r.Add(s.at, "server %s: %s", s.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case len(s.Command) == 0 && s.URL == "":
		wrong("want a command or a url")
	case len(s.Command) > 0 && s.URL != "":
		wrong("it has a command and a url: want one of them")
	case len(s.Command) > 0 && len(s.Headers) > 0:
		wrong("headers are of a url: a command is given variables by env")
	case s.URL != "" && len(s.Env)+len(s.Read) > 0:
		wrong("env and read are of a command: a url is given headers")
	}
	if len(s.Command) > 0 && strings.Contains(s.Command[0], "/") && !filepath.IsAbs(s.Command[0]) {
		wrong("command: %s: want a program in PATH or a path from the root: it runs in the work tree", yamlfile.Quoted(s.Command[0]))
	}
	for _, name := range s.Env {
		if !variable.MatchString(name) {
			wrong("env: %s: want the name of a variable, whose value is not written here", yamlfile.Quoted(name))
		} else if _, err := path.Match(name, ""); err != nil {
			wrong("env: %s: %v", yamlfile.Quoted(name), err)
		}
	}
	for _, name := range s.Read {
		if !filepath.IsAbs(name) {
			wrong("read: %s: want a path from the root", yamlfile.Quoted(name))
		}
	}
	hosts := slices.Clone(s.Hosts)
	if s.URL != "" {
		host, err := hostOf(s.URL)
		if err != nil {
			wrong("url: %v", err)
		}
		hosts = append(hosts, host)
	}
	list, err := egress.Parse(hosts)
	if err != nil {
		wrong("hosts: %v", err)
	}
	s.list = list
}

// hostOf returns HOST:PORT of a URL of a server.
func hostOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fmt.Errorf("%s: want https://HOST/PATH, credentials in headers", yamlfile.Quoted(text))
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// headers reads headers by name.
func (r *reader) headers(to *[]Header) take {
	return func(n ast.Node) {
		r.Entries(n, func(name string, at workflow.Position, value ast.Node) {
			h := Header{Name: textproto.CanonicalMIMEHeaderKey(name)}
			if _, plain := value.(*ast.StringNode); plain {
				r.Add(at, "header %s: want {env: NAME} or {file: PATH}: no value is written here", yamlfile.Quoted(name))
				return
			}
			r.object(value, map[string]take{"env": r.text(&h.Env), "file": r.text(&h.File), "prefix": r.prefix(&h.Prefix)})
			switch {
			case !headerName.MatchString(name) || slices.Contains(reserved, h.Name) || strings.HasPrefix(h.Name, "Mcp-"):
				r.Add(at, "header %s: want a header that the protocol does not set", yamlfile.Quoted(name))
			case (h.Env == "") == (h.File == ""):
				r.Add(at, "header %s: want env, the name of a variable, or file", yamlfile.Quoted(name))
			case h.File != "" && !filepath.IsAbs(h.File):
				r.Add(at, "header %s: file: want a path from the root", yamlfile.Quoted(name))
			}
			*to = append(*to, h)
		})
	}
}

var headerName = lazyregexp.New(`^[A-Za-z0-9-]{1,64}$`)

// maxText is how many bytes a text may have.
const maxText = 1000

// line returns a text of one line, and whether the node is one.
func line(n ast.Node) (string, bool) {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return "", false
	}
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	return s.Value, s.Value != "" && len(s.Value) <= maxText && !strings.ContainsFunc(s.Value, control)
}

func (r *reader) text(to *string) take {
	return func(n ast.Node) {
		s, ok := line(n)
		if s = strings.TrimSpace(s); !ok || s == "" {
			r.Want(n, "a line of text")
			return
		}
		*to = s
	}
}

// prefix reads a text whose blanks count.
func (r *reader) prefix(to *string) take {
	return func(n ast.Node) {
		s, ok := line(n)
		if !ok {
			r.Want(n, "a line of text")
		}
		*to = s
	}
}

// list reads a list of lines with something in it. A number is a text, too.
func (r *reader) list(to *[]string) take {
	return func(n ast.Node) {
		s, ok := n.(*ast.SequenceNode)
		if !ok || len(s.Values) == 0 {
			r.Want(n, "a list with something in it")
			return
		}
		for _, v := range s.Values {
			text, ok := line(v)
			if number, isNumber := v.(*ast.IntegerNode); isNumber {
				text, ok = fmt.Sprint(number.Value), true
			}
			if !ok {
				r.Want(v, "a line of text")
				continue
			}
			*to = append(*to, text)
		}
	}
}

func (r *reader) duration(to *time.Duration) take {
	return func(n ast.Node) {
		text, _ := line(n)
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > time.Hour {
			r.Want(n, "a time up to 1h, such as 30s")
			return
		}
		*to = d
	}
}

func (r *reader) size(to *int) take {
	return func(n ast.Node) {
		text := ""
		switch n := n.(type) {
		case *ast.StringNode:
			text = n.Value
		case *ast.IntegerNode:
			text = fmt.Sprint(n.Value)
		}
		number, kib := strings.CutSuffix(text, "KiB")
		size, err := strconv.Atoi(number)
		if kib && err == nil && size <= MaxOutput {
			size <<= 10
		}
		if err != nil || size < 1<<10 || size > MaxOutput {
			r.Want(n, fmt.Sprintf("a size from 1KiB to %dKiB", MaxOutput>>10))
			return
		}
		*to = size
	}
}

func (r *reader) flag(to *bool) take {
	return func(n ast.Node) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.Want(n, "true or false")
			return
		}
		*to = b.Value
	}
}
