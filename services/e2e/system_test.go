package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
)

// plan says what a system is made of.
type plan struct {
	AckWait    time.Duration       // 0: long enough for nothing to lapse
	Developers int                 // 0: one
	Developer  string              // its brain, a shell script; empty: one that fixes the bug
	Args       map[string][]string // more of one service, by its name
	NATS       string              // directory of the server's store; empty: a temporary one
}

const fix = "echo 42 > answer.txt\necho 'the answer is 42'\n"

// system is everything, each a process of its own.
type system struct {
	plan
	dir    string
	crew   *crew
	forge  *testForge
	nats   *natsServer
	parts  map[string]*process // by name
	client *client.Client
	log    *follower
}

// begin starts a system and returns when all of it is ready.
func begin(t *testing.T, p plan) *system {
	t.Helper()
	if p.AckWait == 0 {
		p.AckWait = patience
	}
	if p.NATS == "" {
		p.NATS = t.TempDir()
	}
	if p.Developer == "" {
		p.Developer = fix
	}
	dir := t.TempDir()
	s := &system{plan: p, dir: dir, crew: hire(t, dir), parts: map[string]*process{}}
	if err := os.WriteFile(s.script(), []byte(p.Developer), 0o700); err != nil {
		t.Fatal(err)
	}
	s.forge = startForge(t)
	s.nats, s.parts[natsName] = startNATS(t, s.crew, p.NATS)
	for _, name := range s.names() {
		s.parts[name] = s.run(t, name)
	}
	for _, name := range s.names() {
		s.parts[name].expect(t, `"msg":"running"`)
	}
	nc, js := s.nats.connect(t)
	s.client = client.New(nc, "operator:test")
	s.log = follow(t, js)
	return s
}

func (s *system) script() string { return filepath.Join(s.dir, "developer.sh") }

// names lists the parts: the services, developers numbered when there are several.
func (s *system) names() []string {
	names := services()
	for i := 2; i <= s.Developers; i++ {
		names = append(names, "developer-"+strconv.Itoa(i))
	}
	return names
}

// run starts one part.
func (s *system) run(t *testing.T, name string) *process {
	t.Helper()
	service, args := s.command(name)
	return s.crew.start(t, name, binary(t, service), args...)
}

// command is how a part is called.
func (s *system) command(name string) (service string, args []string) {
	service = name
	if len(name) > len("developer") && name[:len("developer")] == "developer" {
		service = "developer"
	}
	args = []string{"--nats", s.nats.url(), "--http", "127.0.0.1:0"}
	forge := []string{"--forge-url", s.forge.url + "/api/v3/", "--forge-token", botToken}
	work := []string{"--work-dir", filepath.Join(s.dir, "work", name)}
	switch service {
	case "orchestrator":
		args = append(args, "--ack-wait", s.AckWait.String(), "--watermark", filepath.Join(s.dir, "watermark"))
	case "gateway":
		args = append(append(args, forge...), "--repo", repo, "--every", "100ms")
	case "pm":
		args = append(append(args, forge...), work...)
	case "developer":
		args = append(append(args, work...), "--brain", "exec:sh "+s.script())
	default:
		args = append(args, work...)
	}
	return service, append(args, s.Args[service]...)
}

// id is the instance of an issue.
func id(number int) string { return fmt.Sprintf("%s/%d", repo, number) }
