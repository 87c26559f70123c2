package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// envConfig configures an env.
type envConfig struct {
	AckWait    time.Duration       // 0: no claim lapses
	Developers int                 // 0: one
	Developer  string              // its brain, a shell script; empty: one that fixes the bug
	Args       map[string][]string // more arguments, by service
	NATS       string              // directory of the server's store; empty: a temporary one
	Accounts   bool                // each process has an account of its own
}

const fixScript = "echo 42 > answer.txt\necho 'the answer is 42'\n"

// env is an installation: every service a process, a nats-server and a forge.
type env struct {
	envConfig
	dir       string
	group     *processGroup
	forge     *testForge
	nats      *natsServer
	processes map[string]*process // by name
	client    *client.Client
	access    access.Directory // empty without Accounts
	log       *logFollower
}

// ownDir returns a directory that is removed after the test. A program that a killed process
// has started, such as git, may write in it until it ends.
func ownDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "signalbox-e2e-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for began := time.Now(); ; {
			err := os.RemoveAll(dir)
			if err == nil {
				return
			}
			if time.Since(began) > maxWait {
				t.Error(err)
				return
			}
		}
	})
	return dir
}

// startEnv starts an env and returns when all of it is ready.
func startEnv(t *testing.T, p envConfig) *env {
	t.Helper()
	if p.AckWait == 0 {
		p.AckWait = maxWait
	}
	if p.NATS == "" {
		p.NATS = ownDir(t)
	}
	if p.Developer == "" {
		p.Developer = fixScript
	}
	dir := ownDir(t)
	s := &env{envConfig: p, dir: dir, group: newProcessGroup(t, dir), processes: map[string]*process{}}
	if err := os.WriteFile(s.brainScript(), []byte(p.Developer), 0o700); err != nil {
		t.Fatal(err)
	}
	s.forge = startForge(t)
	if p.Accounts {
		s.access = newAccess(t, serviceNames())
	}
	s.nats, s.processes[natsName] = startNATSWith(t, s.group, p.NATS, s.access)
	for _, name := range s.processNames() {
		s.processes[name] = s.startProcess(t, name)
	}
	for _, name := range s.processNames() {
		s.processes[name].expect(t, `"msg":"running"`)
	}
	nc, js := s.nats.connect(t)
	s.client = client.New(nc, "operator:test")
	s.log = followLog(t, js)
	return s
}

func (s *env) brainScript() string { return filepath.Join(s.dir, "developer.sh") }

// processNames returns the services; several developers are numbered.
func (s *env) processNames() []string {
	names := serviceNames()
	for i := 2; i <= s.Developers; i++ {
		names = append(names, "developer-"+strconv.Itoa(i))
	}
	return names
}

// startProcess starts one process.
func (s *env) startProcess(t *testing.T, name string) *process {
	t.Helper()
	service, args := s.commandLine(name)
	return s.group.start(t, name, binary(t, service), args...)
}

// commandLine returns the service and the arguments of a process.
func (s *env) commandLine(name string) (service string, args []string) {
	service = name
	if len(name) > len("developer") && name[:len("developer")] == "developer" {
		service = "developer"
	}
	args = []string{"--nats", s.nats.url(), "--http", "127.0.0.1:0"}
	if s.access != "" {
		args = append(args, "--nats-nkey", s.access.Seed(partyOf(service)))
	}
	forge := []string{"--forge-url", s.forge.url + "/api/v3/", "--forge-token-file", tokenFile(s.dir)}
	work := []string{"--work-dir", filepath.Join(s.dir, "work", name)}
	switch service {
	case "orchestrator":
		args = append(args, "--ack-wait", s.AckWait.String(), "--watermark", filepath.Join(s.dir, "watermark"))
	case "gateway":
		args = append(append(args, forge...), "--repo", repo, "--every", "500ms", "--all")
	case "pm":
		args = append(append(append(args, forge...), "--repo", repo, "--status-every", "1s"), work...)
	case "developer":
		args = append(append(args, work...), "--brain", "exec:sh "+s.brainScript())
		if s.Developer == gatedScript {
			args = append(args, "--sandbox", "none") // its pipes lie where no sandbox lets it write
		}
	default:
		args = append(args, work...)
	}
	return service, append(args, s.Args[service]...)
}

// instanceID returns the id of an issue's instance.
func instanceID(number int) string { return fmt.Sprintf("%s/%d", repo, number) }
