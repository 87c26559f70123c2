package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/faultproxy"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// leaseInChaos is how long an agent may be silent there.
const chaosLease = 4 * time.Second

// staff is everybody, each a process of its own. What follows a colon tells
// several of a service apart.
func chaosProcesses() []string {
	return []string{
		"orchestrator", "orchestrator:2", "gateway:issue", "gateway:pipeline", "gateway:issue-navigator", "pm", "committer", "git-manager",
		"shepherd", "plan-manager", "analyst", "tester", "developer", "developer:2", "navigator", "triage", "writer", "build", "reviewer",
		"solution-validator", "fullstack-developer", "quality-monitor", "cto",
	}
}

// watched is the repository whose issues the gateway of a lifecycle takes up.
func repoOf(lifecycle string) string { return "acme/" + lifecycle }

// repos are all there are: stories are told in that of the issues, tasks in that
// of the pipeline.
func chaosRepos() []string {
	return []string{repoOf("issue"), repoOf("pipeline"), repoOf("issue-navigator")}
}

// town is everything, behind proxies that can make every connection bad.
type chaosEnv struct {
	dir          string
	group        *processGroup
	forge        *testForge
	nats         *natsServer
	natsProxies  map[string]*faultproxy.Proxy // to the nats-server, by seat
	forgeProxies map[string]*faultproxy.Proxy // to the forge, by seat of those who go there
	supervisor   *supervisor
	nc           *nats.Conn // the test's own, past every proxy
	js           jetstream.JetStream
	log          *logFollower
	definitions  []*workflow.Definition
}

// found starts a town and returns when all of it is ready.
func startChaosEnv(t *testing.T, r *rand.Rand) *chaosEnv {
	t.Helper()
	dir := t.TempDir()
	w := &chaosEnv{dir: dir, group: newProcessGroup(t, dir), natsProxies: map[string]*faultproxy.Proxy{}, forgeProxies: map[string]*faultproxy.Proxy{}}
	w.writeFiles(t)
	_, at := serveForge(t, chaosRepos(), w.seedRepo(t))
	w.forge = connectForge(t, at)
	w.nats = &natsServer{w.group, t.TempDir(), reservedPort(t)}
	server := w.nats.start(t)
	parts := map[string]*process{}
	for _, seat := range chaosProcesses() {
		w.natsProxies[seat] = faultproxy.Start(t, "127.0.0.1:"+w.nats.port)
		if usesForge(seat) {
			w.forgeProxies[seat] = faultproxy.Start(t, strings.TrimPrefix(at, "http://"))
		}
		parts[seat] = w.startProcess(t, seat)
	}
	for _, seat := range chaosProcesses() {
		parts[seat].expect(t, `"msg":"running"`)
	}
	w.nc, w.js = w.nats.connect(t)
	w.log = followLog(t, w.js)
	w.supervisor = &supervisor{stopped: make(chan struct{})}
	w.supervisor.watch(&supervised{name: natsName, process: server, start: func() *process { return w.nats.start(t) }}, r.Uint64())
	for _, name := range chaosProcesses() {
		w.supervisor.watch(&supervised{name: name, process: parts[name], start: func() *process { return w.startProcess(t, name) }}, r.Uint64())
	}
	return w
}

func usesForge(seat string) bool {
	switch serviceOf(seat) {
	case "gateway", "pm", "committer", "git-manager", "shepherd":
		return true
	}
	return false
}

// trade is the service that sits in a seat.
func serviceOf(seat string) string {
	name, _, _ := strings.Cut(seat, ":")
	return name
}

// lay writes what the processes read: lifecycles that are soon late, and the
// program that all who change code think with.
func (w *chaosEnv) writeFiles(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"work.sh": workerScript, "lifecycles/issue.yaml": issueWithDeadlines, "lifecycles/issue-navigator.yaml": navigatorHandingOver,
		"lifecycles/pipeline.yaml": pipelineWithDeadlines, "lifecycles/task.yaml": taskWithDeadlines, "lifecycles/story.yaml": storyWithDeadlines,
	} {
		file := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own, err := workflow.LoadDir(os.DirFS(filepath.Join(w.dir, "lifecycles")))
	if err != nil {
		t.Fatal(err)
	}
	if w.definitions, err = workflow.Builtins(); err != nil {
		t.Fatal(err)
	}
	w.definitions = append(w.definitions, own...)
}

// run starts one part.
func (w *chaosEnv) startProcess(t *testing.T, seat string) *process {
	t.Helper()
	return w.group.start(t, seat, binary(t, serviceOf(seat)), w.commandLine(seat)...)
}

// args is how a part is called.
func (w *chaosEnv) commandLine(seat string) []string {
	args := []string{"--nats", "nats://" + w.natsProxies[seat].Addr(), "--http", "127.0.0.1:0"}
	work := []string{"--work-dir", filepath.Join(w.dir, "work", strings.ReplaceAll(seat, ":", "-"))}
	if road := w.forgeProxies[seat]; road != nil {
		at := url.URL{Scheme: "http", Host: road.Addr(), Path: "/api/v3/"}
		args = append(args, "--forge-url", at.String(), "--forge-token", botToken)
	}
	switch name, which, _ := strings.Cut(seat, ":"); name {
	case "orchestrator":
		return append(args, "--ack-wait", chaosLease.String(), "--max-deliver", "1000", "--workflow-dir", filepath.Join(w.dir, "lifecycles"),
			"--watermark", filepath.Join(w.dir, "watermark"+which))
	case "gateway":
		return append(args, "--workflow", which, "--repo", repoOf(which), "--every", "200ms")
	case "plan-manager":
		return args
	case "shepherd":
		return append(append(args, work...), "--workers", "3")
	case "pm", "committer", "git-manager":
		return append(args, work...)
	case "developer", "writer", "fullstack-developer":
		return append(append(args, work...), "--brain", "exec:sh "+filepath.Join(w.dir, "work.sh"), "--sandbox", "none")
	default:
		return append(append(args, work...), "--sandbox", "none")
	}
}

// heal ends every fault of every connection.
func (w *chaosEnv) healAll() {
	for _, lines := range []map[string]*faultproxy.Proxy{w.natsProxies, w.forgeProxies} {
		for _, p := range lines {
			p.Heal()
		}
	}
}

// quietPort is a free port that no connection is given as its own: a server that
// is away for a while would not get it back.
func reservedPort(t *testing.T) string {
	t.Helper()
	for port := 20_000 + rand.IntN(5_000); port < 30_000; port++ {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			_ = l.Close()
			return fmt.Sprint(port)
		}
	}
	t.Fatal("there is no free port")
	return ""
}
