package model

import (
	"context"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
)

// connect starts the servers of the configuration, in the sandbox of the step. The caller
// has to close s.servers.
func (s *step) connect(ctx context.Context) error {
	if len(s.cfg.Servers) == 0 {
		return nil
	}
	p := mcp.Place{Dir: s.a.Dir, Sandbox: s.cfg.Sandbox, Limits: s.cfg.Limits}
	if s.a.Shared != "" {
		p.Readable = []string{s.a.Shared}
	}
	if s.cfg.Cache != nil {
		p.Cache = s.cfg.Cache(s.a)
	}
	var err error
	s.servers, err = s.cfg.Servers.Open(ctx, p)
	for _, line := range s.servers.Said {
		s.note("%s", line)
	}
	return err
}

// foreign returns the tools of the servers.
func (s *step) foreign() []tool {
	if s.servers == nil {
		return nil
	}
	var kit []tool
	for _, t := range s.servers.Tools {
		more := maps.Clone(t.Schema)
		for _, key := range []string{"type", "properties", "required"} {
			delete(more, key)
		}
		kit = append(kit, tool{t.Name, t.About, t.Schema["properties"].(fields), t.Schema["required"].([]string), more})
	}
	return kit
}

// limit is how many bytes of a tool's output the model is given.
func (s *step) limit(name string) int {
	if s.servers != nil {
		if i := slices.IndexFunc(s.servers.Tools, func(t mcp.Tool) bool { return t.Name == name }); i >= 0 {
			return s.servers.Tools[i].Limit
		}
	}
	return maxOutput
}
