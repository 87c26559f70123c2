package clis

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/mcp/mcptest"
	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
)

const (
	outside = "/tmp/signalbox-clis-outside"
)

// sighting is what came of a case.
type sighting struct {
	in      installed
	outcome string
	detail  string
	mode    string
	model   *modeltest.Server
	took    time.Duration
	note    string // what a check found
	ok      bool
}

// run has the program do doctor's trial.
func (c trial) run(t *testing.T, signalbox string, in installed, mode string) sighting {
	model := modeltest.New(t, c.script())
	address := model.URL
	if c.to != "" {
		address = c.to
	}
	idle := c.idle
	if idle == "" {
		idle = "40s"
	}
	wall := c.wall
	if wall == "" {
		wall = "1m"
	}
	spec := in.spec(address, c.flags)
	args := append([]string{"doctor", "--json", "--brain", "developer=exec:true", "--brain-trial", spec, "--brain-wall", wall, "--brain-idle", idle,
		"--data", t.TempDir(), "--nats", "nats://127.0.0.1:1"}, in.shared(address, mode)...)
	if c.servers {
		args = append(args, "--mcp-servers", servers(t))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_ = os.Remove(outside)
	_ = os.Remove(filepath.Join(in.home, "outside"))
	cmd := exec.CommandContext(ctx, signalbox, args...)
	for _, pair := range in.environ(address) {
		if name, _, _ := strings.Cut(pair, "="); c.drop == "" || !strings.HasSuffix(name, c.drop) {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	stdout, _ := cmd.Output() // it ends with 1: there is no NATS
	s := sighting{in: in, mode: mode, model: model, took: time.Since(began)}
	for line := range bytes.Lines(stdout) {
		var f struct{ Check, Status, Detail, Advice string }
		if json.Unmarshal(line, &f) == nil && strings.HasPrefix(f.Check, "trial of ") {
			s.outcome, s.detail = told(f.Status, f.Detail, f.Advice), f.Detail
		}
	}
	if s.outcome == "" {
		s.outcome, s.detail = "not tried", fmt.Sprintf("%s\n%s", stdout, stderr.String())
	}
	for _, want := range c.want {
		s.ok = s.ok || s.outcome == want
	}
	s.ok = s.ok || s.outcome == c.but[in.name]
	if c.check != nil && s.ok {
		s.note = c.check(s)
		s.ok = !strings.HasPrefix(s.note, "NOT ")
	}
	return s
}

// told is what doctor found.
func told(status, detail, advice string) string {
	switch {
	case status != "fail" && strings.Contains(detail, "it states its result"):
		return stated
	case status != "fail":
		return unstated
	case strings.HasPrefix(advice, "nothing works with it"):
		return people
	case strings.HasPrefix(advice, "try again") && strings.Contains(detail, "it can work again at"):
		return later
	case strings.HasPrefix(advice, "try again"):
		return fault
	case strings.HasPrefix(advice, "see what it printed"):
		return failure
	case strings.HasPrefix(advice, "see that it may write"):
		return wrong
	}
	return ""
}

// exact compares the tokens with those of the model, where titles and the like may be left
// out.
func (s sighting) exact() string {
	_, cost, _ := strings.Cut(s.detail, "it cost ")
	var in, out int64
	if _, err := fmt.Sscanf(cost, "%d+%d tokens", &in, &out); err != nil {
		return "NOT told"
	}
	all, aside := s.model.Spent(), 0
	for _, r := range s.model.Requests() {
		if len(r.Tools) == 0 {
			aside++
		}
	}
	wantIn := all.In + all.Read + all.Written
	switch {
	case in == wantIn && out == all.Out:
		return fmt.Sprintf("exact: %d/%d", in, out)
	case in == wantIn-int64(aside)*1120 && out == all.Out-int64(aside)*50:
		return fmt.Sprintf("exact: %d/%d; %d calls aside left out", in, out, aside)
	}
	return fmt.Sprintf("NOT exact: %d/%d, the model counts %d/%d", in, out, wantIn, all.Out)
}

// servers returns a file with a server that lets two of its tools be called.
func servers(t *testing.T) string {
	t.Helper()
	command, err := json.Marshal(mcptest.Command(t, "good"))
	path := filepath.Join(t.TempDir(), "servers.yaml")
	if err == nil {
		err = os.WriteFile(path, fmt.Appendf(nil, "servers:\n  docs: {command: %s, tools: [echo, fail]}\n", command), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// called reports whether the model got what the server's tool says.
func (s sighting) called() string {
	for _, r := range s.model.Requests() {
		for _, said := range r.Results {
			if strings.Contains(said, "[MCP server docs]") && strings.Contains(said, "said by the server") {
				return "called"
			}
		}
	}
	return "NOT called"
}

// path reports whether its shell found go.
func (s sighting) path() string {
	for _, r := range s.model.Requests() {
		for _, said := range r.Results {
			if strings.Contains(said, "/go") && !strings.Contains(said, "not found") {
				return "kept"
			}
		}
	}
	return "NOT kept: no go"
}

// contained reports what was written outside of the work tree.
func (s sighting) contained() string {
	var left []string
	for _, path := range []string{outside, filepath.Join(s.in.home, "outside")} {
		if os.Remove(path) == nil {
			left = append(left, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path))
		}
	}
	switch {
	case len(left) == 0:
		return "contained"
	case s.mode == "none":
		return "wrote " + strings.Join(left, ", ")
	}
	return "NOT contained: " + strings.Join(left, ", ")
}

// ended reports whether a process of the tool is left.
func (s sighting) ended() string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && string(text) == "sleep\x00"+seconds(s.dir())+"\x00" {
			return "NOT ended"
		}
	}
	return "no process left"
}

// dir returns the work tree.
func (s sighting) dir() string {
	for _, r := range s.model.Requests() {
		if m := workTree.FindSubmatch(r.Body); m != nil {
			return string(m[1])
		}
	}
	return ""
}

// names reports whether people are told the flag and a version that knows what is needed.
func (s sighting) names() string {
	if !strings.Contains(s.detail, "--no-such-flag") {
		return "NOT named"
	}
	return "named"
}
