// Package mcp gives brains the tools of servers of the Model Context Protocol. The operator
// names the servers. One is a program that is started in the sandbox of the step and reaches
// the hosts listed for it, or it is asked over HTTP from outside of the sandbox.
package mcp

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Server is a server as the operator configures it: a command or a URL.
type Server struct {
	Name string

	Command []string // started in the sandbox of each step
	Env     []string // names of variables of this process that it is given, in addition to the usual ones
	Read    []string // more paths that it may read

	URL     string
	Headers []Header // of each request

	Hosts    []string // that it may reach; of a URL, its own is added
	Roles    []string // whose brains are given it; empty: all
	Tools    []string // the names of its tools that are offered; empty: all
	Start    time.Duration
	Call     time.Duration
	Output   int  // bytes of a result
	Required bool // no step goes without it

	at     workflow.Position
	list   egress.List
	values map[string]string // of Headers
}

// Header is a header of requests. Its value is Prefix and then what a variable of this
// process or a file says.
type Header struct{ Name, Prefix, Env, File string }

// Servers are those of a file, or of a role, sorted by name.
type Servers []Server

// Defaults of a server.
const (
	defaultStart  = 30 * time.Second
	defaultCall   = time.Minute
	defaultOutput = 32 << 10
	// MaxOutput limits what a file may permit a result to have.
	MaxOutput = 256 << 10
)

// Read reads the file of the operator; none, if path is empty. The error joins a
// workflow.Problem for everything that is wrong, with its line.
func Read(path string) (Servers, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// For returns the servers of a role.
func (s Servers) For(role string) Servers {
	return slices.DeleteFunc(slices.Clone(s), func(one Server) bool { return len(one.Roles) > 0 && !slices.Contains(one.Roles, role) })
}

// CheckRoles refuses servers for roles that are not there.
func (s Servers) CheckRoles(roles []string) error {
	var wrong []error
	for _, one := range s {
		for _, role := range one.Roles {
			if !slices.Contains(roles, role) {
				p := workflow.Problem{At: one.at, Text: fmt.Sprintf("server %s: there is no role %q here", one.Name, role), Meant: workflow.Nearest(role, roles)}
				if p.Meant == "" {
					p.Text += ": want some of " + strings.Join(roles, ", ")
				}
				wrong = append(wrong, p)
			}
		}
	}
	return errors.Join(wrong...)
}

// Ready returns the servers with the values of their headers, which it reads. An error says
// what is missing, or may not be shown to a program.
func (s Servers) Ready() (Servers, error) {
	var wrong []error
	s = slices.Clone(s)
	for i, one := range s {
		s[i].values = map[string]string{}
		for _, h := range one.Headers {
			value, err := h.value()
			if err != nil {
				wrong = append(wrong, workflow.Problem{At: one.at, Text: fmt.Sprintf("server %s: header %s: %v", one.Name, h.Name, err)})
			}
			s[i].values[h.Name] = h.Prefix + value
		}
		for _, path := range slices.Concat(one.files(), one.Read) {
			if info, err := os.Stat(path); err == nil && info.IsDir() && sandbox.Forbidden(path) {
				wrong = append(wrong, workflow.Problem{At: one.at, Text: fmt.Sprintf("server %s: %s holds a home or credentials, which no sandbox shows: name a file, "+
					"or a directory below it", one.Name, path)})
			}
		}
	}
	return s, errors.Join(wrong...)
}

// value returns what comes after the prefix.
func (h Header) value() (string, error) {
	value := os.Getenv(h.Env)
	if h.File != "" {
		text, err := os.ReadFile(h.File)
		if err != nil {
			return "", err
		}
		value = strings.TrimSpace(string(text))
	}
	switch {
	case value == "" && h.File != "":
		return "", fmt.Errorf("%s is empty: want the value", h.File)
	case value == "":
		return "", fmt.Errorf("%s is not set: want the value in it", h.Env)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", errors.New("the value has more than a line")
	}
	return value, nil
}

// Secrets returns the values that no record may have. The servers have to be Ready.
func (s Servers) Secrets() (all []string) {
	for _, one := range s {
		for _, h := range one.Headers {
			all = append(all, strings.TrimPrefix(one.values[h.Name], h.Prefix))
		}
		for _, name := range one.Env {
			all = append(all, os.Getenv(name))
		}
	}
	return slices.DeleteFunc(all, func(value string) bool { return len(value) < minSecret })
}

// minSecret is how long a value is that is distinct from other words.
const minSecret = 8

// Describe returns a line for people.
func (s Server) Describe() string {
	how := s.URL
	if len(s.Command) > 0 {
		how = strings.Join(s.Command, " ")
	}
	said := []string{how}
	if len(s.Roles) > 0 {
		said = append(said, "for "+strings.Join(s.Roles, ", "))
	}
	if len(s.Hosts) > 0 {
		said = append(said, "reaches "+strings.Join(s.Hosts, ", "))
	}
	if len(s.Tools) > 0 {
		said = append(said, "tools "+strings.Join(s.Tools, ", "))
	}
	if s.Required {
		said = append(said, "required")
	}
	return s.Name + ": " + strings.Join(said, "; ")
}
