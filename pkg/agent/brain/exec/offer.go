package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
)

// form is how a coding agent gets MCP servers over HTTP. In its texts stand {{name}} and
// {{url}} for those of a server, {{token}} for what the servers want, and {{mcp}} for a file.
type form struct {
	Under string            `yaml:"under"` // the key of the file that has the servers by name
	Entry map[string]any    `yaml:"entry"` // what stands there of each
	Args  []string          `yaml:"args"`  // arguments, if there are servers
	Each  []string          `yaml:"each"`  // arguments for each server
	Set   map[string]string `yaml:"set"`   // variables, if there are servers
}

// standard is the form for programs that have none of their own.
func standard() form {
	return form{Under: "mcpServers", Entry: map[string]any{
		"type": "http", "url": "{{url}}", "headers": map[string]any{"Authorization": "Bearer {{token}}"}}}
}

// wrong returns what stands in the form where it must not.
func (f form) wrong() string {
	if f.Under == "" != (len(f.Entry) == 0) {
		return "want under and entry together"
	}
	for what, words := range map[string][]string{"args": f.Args, "each": f.Each} {
		for _, word := range words {
			for _, found := range placeholder.FindAllString(word, -1) {
				if found != "{{mcp}}" && (what == "args" || found != "{{name}}" && found != "{{url}}") {
					return fmt.Sprintf("%s: %s: want {{mcp}}, and in each {{name}} and {{url}}: others on this machine see arguments", what, found)
				}
			}
		}
	}
	return ""
}

// CanBeGivenServers reports whether the program can get MCP servers: a preset with a form, or any program that is no preset,
// which may read the file that SIGNALBOX_MCP names.
func (p Program) CanBeGivenServers() bool { return p.read == nil || p.MCP != nil }

// offer is the MCP servers of one run.
type offer struct {
	form    form
	session *mcp.Session
	gateway *mcp.Gateway
	file    string
}

// offer starts the servers and what the program reaches them by. The caller has to end it.
func (b *Brain) offer(ctx context.Context, s *session) (*offer, error) {
	if len(b.cfg.Servers) == 0 || !b.cfg.Program.CanBeGivenServers() {
		return nil, nil
	}
	a := s.assignment
	p := mcp.Place{Dir: a.Dir, Sandbox: b.cfg.Sandbox, Limits: b.cfg.Limits}
	if a.Shared != "" {
		p.Readable = []string{a.Shared}
	}
	if b.cfg.Cache != nil {
		p.Cache = b.cfg.Cache(a)
	}
	o := &offer{form: standard(), file: filepath.Join(s.files.dir, "mcp.json")}
	if own := b.cfg.Program.MCP; own != nil {
		o.form = *own
		if own.Under == "" {
			o.form.Under, o.form.Entry = standard().Under, standard().Entry
		}
	}
	var err error
	if o.session, err = b.cfg.Servers.Open(ctx, p); err != nil {
		return nil, err
	}
	if o.gateway, err = o.session.Serve(); err == nil {
		if b.cfg.Issued != nil {
			b.cfg.Issued(o.gateway.Token)
		}
		err = o.write()
	}
	if err != nil {
		_, _ = o.end()
		return nil, err
	}
	return o, nil
}

// write writes the file of the servers.
func (o *offer) write() error {
	all := map[string]any{}
	for name, url := range o.gateway.Servers() {
		all[name] = filled(o.form.Entry, o.replacer(name, url))
	}
	text, err := json.Marshal(map[string]any{o.form.Under: all})
	if err != nil {
		return err
	}
	return os.WriteFile(o.file, text, 0o600)
}

func (o *offer) replacer(name, url string) *strings.Replacer {
	return strings.NewReplacer("{{name}}", name, "{{url}}", url, "{{token}}", o.gateway.Token, "{{mcp}}", o.file)
}

// filled returns a value with its texts filled in.
func filled(v any, r *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return r.Replace(v)
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = filled(one, r)
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for key, one := range v {
			all[key] = filled(one, r)
		}
		return all
	}
	return v
}

// args returns the arguments that tell the program of the servers.
func (o *offer) args() (args []string) {
	if o == nil || len(o.session.Tools) == 0 {
		return nil
	}
	for _, word := range o.form.Args {
		args = append(args, o.replacer("", "").Replace(word))
	}
	servers := o.gateway.Servers()
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		for _, word := range o.form.Each {
			args = append(args, o.replacer(name, servers[name]).Replace(word))
		}
	}
	return args
}

// environ returns the variables that tell the program of the servers.
func (o *offer) environ() (env []string) {
	if o == nil || len(o.session.Tools) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.form.Set)) {
		env = append(env, name+"="+o.replacer("", "").Replace(o.form.Set[name]))
	}
	return append(env, "SIGNALBOX_MCP="+o.file, "SIGNALBOX_MCP_TOKEN="+o.gateway.Token)
}

// hosts returns the hosts that the program reaches in addition to its own.
func (o *offer) hosts() []string {
	if o == nil || len(o.session.Tools) == 0 {
		return nil
	}
	return []string{o.gateway.Host}
}

// end ends the servers. It returns their remarks for people, and the fault of one that is
// required.
func (o *offer) end() (said []string, fault error) {
	if o == nil {
		return nil, nil
	}
	said = o.session.Said
	if o.gateway != nil {
		var calls []string
		calls, fault = o.gateway.Close()
		said = append(said, calls...)
	}
	o.session.Close()
	return said, fault
}
