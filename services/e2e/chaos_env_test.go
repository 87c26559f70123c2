package e2e

import (
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

// chaosLease is the lease of agents in chaos tests: how long one may be silent.
const chaosLease = 4 * time.Second

// chaosProcesses names all processes. The part after a colon distinguishes
// processes of one service.
func chaosProcesses() []string {
	return []string{
		"orchestrator", "orchestrator:2", "gateway:issue", "gateway:pipeline", "gateway:issue-navigator", "pm", "committer", "git-manager",
		"shepherd", "plan-manager", "analyst", "tester", "developer", "developer:2", "navigator", "triage", "writer", "build", "reviewer",
		"solution-validator", "fullstack-developer", "quality-monitor", "cto",
	}
}

// repoOf returns the repository whose issues the gateway of a lifecycle opens.
func repoOf(lifecycle string) string { return "acme/" + lifecycle }

// chaosRepos returns all repositories. Stories use the one of the issue lifecycle,
// tasks that of the pipeline.
func chaosRepos() []string {
	return []string{repoOf("issue"), repoOf("pipeline"), repoOf("issue-navigator")}
}

// chaosEnv is a complete installation. Every connection goes through a proxy that
// can inject faults.
type chaosEnv struct {
	dir          string
	group        *processGroup
	forge        *testForge
	nats         *natsServer
	natsProxies  map[string]*faultproxy.Proxy // to the nats-server, by process name
	forgeProxies map[string]*faultproxy.Proxy // to the forge, by process name
	access       access.Directory             // the keys of the services; each has an account of its own
	supervisor   *supervisor
	nc           *nats.Conn // the test's own, not proxied
	js           jetstream.JetStream
	log          *logFollower
	definitions  []*workflow.Definition
}

// startChaosEnv starts the processes and returns when all are ready.
func startChaosEnv(t *testing.T, r *rand.Rand) *chaosEnv {
	t.Helper()
	dir := t.TempDir()
	e := &chaosEnv{dir: dir, group: newProcessGroup(t, dir), natsProxies: map[string]*faultproxy.Proxy{},
		forgeProxies: map[string]*faultproxy.Proxy{}}
	e.writeFiles(t)
	_, at := serveForge(t, chaosRepos(), e.seedRepo(t))
	e.forge = connectForge(t, at)
	var services []string
	for _, name := range chaosProcesses() {
		services = append(services, serviceOf(name))
	}
	e.access = newAccess(t, services)
	e.nats = &natsServer{e.group, t.TempDir(), strconv.Itoa(porttest.Reserve(t)), e.access}
	server := e.nats.start(t)
	processes := map[string]*process{}
	for _, name := range chaosProcesses() {
		e.natsProxies[name] = faultproxy.Start(t, "127.0.0.1:"+e.nats.port)
		if usesForge(name) {
			e.forgeProxies[name] = faultproxy.Start(t, strings.TrimPrefix(at, "http://"))
		}
		processes[name] = e.startProcess(t, name)
	}
	for _, name := range chaosProcesses() {
		processes[name].expect(t, `"msg":"running"`)
	}
	e.nc, e.js = e.nats.connect(t)
	e.log = followLog(t, e.js)
	e.supervisor = &supervisor{stopped: make(chan struct{})}
	e.supervisor.watch(&supervised{name: natsName, process: server, start: func() *process { return e.nats.start(t) }}, r.Uint64())
	for _, name := range chaosProcesses() {
		e.supervisor.watch(&supervised{name: name, process: processes[name], start: func() *process { return e.startProcess(t, name) }},
			r.Uint64())
	}
	return e
}

func usesForge(name string) bool {
	switch serviceOf(name) {
	case "gateway", "pm", "committer", "git-manager", "shepherd":
		return true
	}
	return false
}

// serviceOf returns the service of a process name.
func serviceOf(name string) string {
	service, _, _ := strings.Cut(name, ":")
	return service
}

// writeFiles writes what the processes read: lifecycles with short deadlines, and
// the brain of the roles that change code.
func (e *chaosEnv) writeFiles(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"work.sh": workerScript, "lifecycles/issue.yaml": issueWithDeadlines, "lifecycles/issue-navigator.yaml": navigatorHandingOver,
		"lifecycles/pipeline.yaml": pipelineWithDeadlines, "lifecycles/task.yaml": taskWithDeadlines, "lifecycles/story.yaml": storyWithDeadlines,
	} {
		file := filepath.Join(e.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own, err := workflow.LoadDir(os.DirFS(filepath.Join(e.dir, "lifecycles")))
	if err != nil {
		t.Fatal(err)
	}
	if e.definitions, err = workflow.Builtins(); err != nil {
		t.Fatal(err)
	}
	e.definitions = append(e.definitions, own...)
}

// startProcess starts one process.
func (e *chaosEnv) startProcess(t *testing.T, name string) *process {
	t.Helper()
	return e.group.start(t, name, binary(t, serviceOf(name)), e.commandLine(name)...)
}

// commandLine returns the arguments of a process.
func (e *chaosEnv) commandLine(name string) []string {
	args := []string{"--nats", "nats://" + e.natsProxies[name].Addr(), "--nats-nkey", e.access.Seed(partyOf(serviceOf(name))), "--http", "127.0.0.1:0"}
	work := []string{"--work-dir", filepath.Join(e.dir, "work", strings.ReplaceAll(name, ":", "-"))}
	if proxy := e.forgeProxies[name]; proxy != nil {
		at := url.URL{Scheme: "http", Host: proxy.Addr(), Path: "/api/v3/"}
		args = append(args, "--forge-url", at.String(), "--forge-token-file", tokenFile(e.dir))
	}
	switch service, which, _ := strings.Cut(name, ":"); service {
	case "orchestrator":
		return append(args, "--ack-wait", chaosLease.String(), "--max-deliver", "1000", "--workflow-dir", filepath.Join(e.dir, "lifecycles"),
			"--watermark", filepath.Join(e.dir, "watermark"+which))
	case "gateway":
		return append(args, "--workflow", which, "--repo", repoOf(which), "--every", "500ms", "--all")
	case "plan-manager":
		return args
	case "shepherd":
		return append(append(args, work...), "--repo", "acme/*", "--workers", "3")
	case "pm":
		return append(append(args, "--repo", "acme/*", "--status-every", "1s", "--status-labels"), work...)
	case "committer", "git-manager":
		return append(append(args, "--repo", "acme/*"), work...)
	case "developer", "writer", "fullstack-developer":
		return append(append(args, work...), "--brain", "exec:sh "+filepath.Join(e.dir, "work.sh"), "--sandbox", "none")
	default:
		return append(append(args, work...), "--sandbox", "none")
	}
}

// healAll ends the faults of all connections.
func (e *chaosEnv) healAll() {
	for _, proxies := range []map[string]*faultproxy.Proxy{e.natsProxies, e.forgeProxies} {
		for _, p := range proxies {
			p.Heal()
		}
	}
}
