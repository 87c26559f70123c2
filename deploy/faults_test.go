package deploy_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// fault is one thing that breaks in the set of containers, and the places that name it.
type fault struct {
	name       string
	begin, end func(t *testing.T, s *containers)
	signs      []string // PLACE: regular expression; a place is a key of places, with the container's name if it has one
}

// faults returns the faults in the order of their trial. The first need an issue that waits for a developer. The last stop a
// service that the others need.
func faults() []fault {
	return []fault{
		{"no developer runs", nothing, nothing, []string{
			"alert: SignalboxNobodyWorks", `metric orchestrator: signalbox_work_pending{role="developer"} 1`,
			"doctor: nobody works as developer", "explain: .*no developer.*", "health: no agent .*developer.*"}},
		{"a brain is silent", brain("sleep 900"), nothing, []string{
			`metric developer: signalbox_agent_quiet_seconds{role="developer"} [1-9]\S*`, "explain: .*took the work.*", "doctor: 1 under way.*"}},
		{"an agent is cut off, with work", docker("network", "disconnect", "NET", "developer"), both(docker("network", "connect", "--alias", "developer", "NET", "developer"), healthy,
			sees("explain: its lease runs for"), sees(`scraped developer: "value"`)), []string{
			"probe developer: no answer.*|unhealthy.*", "log developer: NATS connection lost", "explain: .*lapsed.*|.*silent.*"}},
		{"an agent hangs, with work", docker("pause", "developer"), docker("unpause", "developer"), []string{
			"explain: .*lapsed.*|.*silent.*", "alert: SignalboxSilent .*", "probe developer: unhealthy.*|no answer.*"}},
		{"a brain fails", brain("echo the disk of the model is gone >&2; exit 7"), nothing, []string{
			"log developer: \"result\":\"failure\".*", "explain: .*exit.*"}},
		{"the forge is gone", docker("stop", "local-forge"), docker("start", "local-forge"), forgeSigns("silent", "", "does not answer\"")},
		{"the forge answers 500", answers(500, ""), answersNoMore, forgeSigns("error", "500.*", ".*5xx.*")},
		{"the forge's token has expired", answers(401, ""), answersNoMore, forgeSigns("denied", "401.*", ".*deni.*")},
		{"the repository is gone", answers(404, ""), both(answersNoMore, sees(`metric gateway: signalbox_gateway_repositories\{state="away"\} 0`)), []string{
			"log gateway: .*404.*|.*not there.*", `metric gateway: signalbox_gateway_repositories{state="away"} 1|signalbox_gateway_polls_total{repo="acme/widgets",result="error"} [1-9]\S*`}},
		{"the forge limits requests", answers(403, "Retry-After: 20"), both(answersNoMore, sees("metric gateway: signalbox_forge_limited_seconds 0\n")), []string{
			`metric gateway: signalbox_forge_limited_seconds [1-9]\S*`, "log gateway: .*limit.*", "health: the limit of .*"}},
		{"the PM is gone, and an issue comes", both(docker("stop", "pm"), another), docker("start", "pm"), []string{
			"doctor: nobody works as pm", `metric orchestrator: signalbox_work_pending{role="pm"} [1-9]\S*`, "alert: SignalboxNobodyWorks .*pm.*"}},
		{"an agent has a key that the server does not know", impostor("new"), remove("impostor"), []string{
			"log impostor: .*authorization.*"}},
		{"an agent has the key of another role", impostor("agent-tester"), remove("impostor"), []string{
			"log impostor: this key is another's: it is the key of agent-tester"}},
		{"another program writes into the log", foreign, nothing, []string{
			"alert: SignalboxLogTouched", "metric orchestrator: signalbox_foreign_messages_total 1", "log orchestrator: a message in the log is no commit of ours", "audit: alien.*"}},
		{"another program changes a stream", changed, nothing, []string{
			`metric orchestrator: signalbox_stream_settings_changed_total{stream="EVENTS"} [1-9]\S*`, "log orchestrator: the settings of a stream were changed"}},
		{"a stored lifecycle cannot be loaded", definition, nothing, []string{
			"alert: SignalboxDefinitionUnreadable", "metric orchestrator: signalbox_definitions_unreadable 1", "doctor: the orchestrator cannot load 1 .*",
			"ready orchestrator: \"definitions\":.*"}},
		{"both orchestrators are gone", docker("stop", "orchestrator", "orchestrator-2"), both(docker("start", "orchestrator", "orchestrator-2"), healthy), []string{
			"alert: SignalboxNoOrchestrator", `metric tester: signalbox_agent_orchestrator_up{role="tester"} 0`, "doctor: no orchestrator answers", "ready tester: \"orchestrator\":.*"}},
		{"the active orchestrator hangs", docker("pause", "orchestrator"), both(docker("unpause", "orchestrator"), healthy), []string{
			"log orchestrator-2: \"msg\":\"active\"", "probe orchestrator: unhealthy.*", "metric orchestrator-2: signalbox_on_duty 1"}},
		{"NATS is gone", docker("stop", "nats"), both(docker("start", "nats"), healthy), []string{
			"alert: SignalboxDisconnected", "metric gateway: signalbox_nats_connected 0", "log tester: NATS connection lost", "doctor: nobody answers at \\S*",
			"ready orchestrator-2: .*RECONNECTING.*"}},
		{"NATS hangs", docker("pause", "nats"), both(docker("unpause", "nats"), healthy), []string{
			"metric gateway: signalbox_nats_connected 0", "log tester: NATS connection lost", "doctor: nobody answers at \\S*", "ready orchestrator-2: .*RECONNECTING.*"}},
		{"the disk of NATS is full", full, nothing, []string{
			"alert: SignalboxStorageFull", "metric orchestrator-2: signalbox_storage_full 1", "doctor: fail  storage.*", "log nats: no space left on device"}},
	}
}

// places are where an operator looks. The second argument is the name of a container.
var places = map[string]func(s *containers, name string) string{
	"doctor":  command("doctor"),
	"explain": command("explain", "acme/widgets/1"),
	"health":  command("health"),
	"audit":   command("audit"),
	"log": func(s *containers, name string) string {
		out, _ := exec.Command("docker", "logs", "--since", s.since, s.name+"-"+name).CombinedOutput()
		if name == "orchestrator" {
			other, _ := exec.Command("docker", "logs", "--since", s.since, s.name+"-orchestrator-2").CombinedOutput()
			out = append(out, other...)
		}
		return string(out)
	},
	"probe": func(s *containers, name string) string {
		out, _ := exec.Command("docker", "inspect", "--format", "{{.State.Health.Status}}: {{range .State.Health.Log}}{{.Output}}{{end}}", s.name+"-"+name).CombinedOutput()
		return string(out)
	},
	"metric": func(s *containers, name string) string {
		text := get(s.address(name, 8080) + "/metrics")
		if name == "orchestrator" { // either may be the active one
			text += get(s.address("orchestrator-2", 8080) + "/metrics")
		}
		return text
	},
	"ready": func(s *containers, name string) string { return get(s.address(name, 8080) + "/readyz") },
	"scraped": func(s *containers, name string) string { // has a "value" since the newest scrape had an answer
		return get(s.address("prometheus", 9090) + "/api/v1/query?query=" + url.QueryEscape(fmt.Sprintf("up{job=%q}==1", name)))
	},
	"alert": func(s *containers, _ string) string {
		var answer struct {
			Data struct {
				Alerts []struct {
					Labels map[string]string
					State  string
				}
			}
		}
		_ = json.Unmarshal([]byte(get(s.address("prometheus", 9090)+"/api/v1/alerts")), &answer)
		var lines []string
		for _, a := range answer.Data.Alerts {
			lines = append(lines, fmt.Sprintln(a.Labels["alertname"], a.State, a.Labels["role"], a.Labels["instance"]))
		}
		return strings.Join(lines, "")
	},
}

func command(args ...string) func(*containers, string) string {
	return func(s *containers, _ string) string {
		out, _ := s.signalbox(args...)
		return out
	}
}

func get(address string) string {
	answer, err := (&http.Client{Timeout: 5 * time.Second}).Get(address)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	return string(body)
}

func (s *containers) address(name string, port int) string {
	out, _ := exec.Command("docker", "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", s.name+"-"+name).Output()
	return fmt.Sprintf("http://%s:%d", strings.TrimSpace(string(out)), port)
}

func healthy(t *testing.T, s *containers) { s.untilHealthy(t) }

func nothing(*testing.T, *containers) {}

// docker calls Docker; the arguments that are names of services become those of their containers, and NET the network's.
func docker(args ...string) func(*testing.T, *containers) {
	return func(t *testing.T, s *containers) {
		t.Helper()
		named := slices.Clone(args)
		for i, arg := range named {
			if name := s.name + "-" + arg; slices.Contains(s.started, name) && (i == 0 || named[i-1] != "--alias") {
				named[i] = name
			} else if arg == "NET" {
				named[i] = s.name
			}
		}
		s.docker(t, named...)
	}
}

func both(all ...func(*testing.T, *containers)) func(*testing.T, *containers) {
	return func(t *testing.T, s *containers) {
		for _, f := range all {
			f(t, s)
		}
	}
}

func remove(name string) func(*testing.T, *containers) {
	return docker("rm", "--force", "--volumes", name)
}

// brain starts the developer with another script.
func brain(script string) func(*testing.T, *containers) {
	return func(t *testing.T, s *containers) {
		t.Helper()
		s.remove(t, "developer")
		if err := os.WriteFile(s.path("deploy/brains/demo/developer.sh"), []byte(script+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		s.start(t, "developer", "")
	}
}

// answers puts a server in the forge's place that answers all requests so.
func answers(status int, header string) func(*testing.T, *containers) {
	script := fmt.Sprintf(`
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(%d)
        key, _, value = %q.partition(": ")
        if key: self.send_header(key, value)
        self.end_headers()
    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET
http.server.ThreadingHTTPServer(("", 3000), H).serve_forever()`, status, header)
	return func(t *testing.T, s *containers) {
		t.Helper()
		s.docker(t, "stop", "--time", "1", s.name+"-local-forge")
		s.docker(t, "run", "--detach", "--name", s.name+"-fake", "--network", s.name, "--network-alias", "local-forge", "--volume", "/usr:/usr:ro", s.name, "/usr/bin/python3", "-c", script)
	}
}

func answersNoMore(t *testing.T, s *containers) {
	t.Helper()
	s.docker(t, "rm", "--force", s.name+"-fake")
	s.docker(t, "start", s.name+"-local-forge")
}

// sees waits until a place shows a sign.
func sees(sign string) func(*testing.T, *containers) {
	place, want, _ := strings.Cut(sign, ": ")
	kind, name, _ := strings.Cut(place, " ")
	return func(t *testing.T, s *containers) {
		t.Helper()
		s.until(t, sign, func() bool { return regexp.MustCompile(want).MatchString(places[kind](s, name)) })
	}
}

func forgeSigns(reason, logged, warned string) []string {
	return []string{"alert: SignalboxForgeDown", fmt.Sprintf("metric gateway: signalbox_forge_up{reason=%q} 0", reason), "log gateway: poll failed.*" + logged, "ready gateway: \"forge\":\".*" + warned}
}

func another(t *testing.T, s *containers) {
	t.Helper()
	s.post(t, "issues", "issue.json")
}

// impostor starts a second analyst with the key of another account.
func impostor(key string) func(*testing.T, *containers) {
	return func(t *testing.T, s *containers) {
		t.Helper()
		if key == "new" {
			if out, err := s.signalbox("auth", "init", "--dir", "deploy/nats/other"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			s.own(t, "deploy/nats/other")
			key = "../other/agent-analyst"
		}
		s.start(t, "analyst", "", "--name", s.name+"-impostor", "--env", "SIGNALBOX_NATS_NKEY=/key", "--volume", s.path("deploy/nats/access/"+key+".nk")+":/key:ro")
		s.started[len(s.started)-1] = s.name + "-impostor"
	}
}

// connected calls f with a connection that has the orchestrator's key.
func connected(f func(t *testing.T, nc *nats.Conn, js jetstream.JetStream)) func(*testing.T, *containers) {
	return func(t *testing.T, s *containers) {
		t.Helper()
		key, err := nats.NkeyOptionFromSeed(s.path("deploy/nats/access/orchestrator.nk"))
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect("nats://"+s.docker(t, "port", s.name+"-nats", "4222"), key)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		f(t, nc, js)
	}
}

func foreign(t *testing.T, s *containers) {
	connected(func(t *testing.T, _ *nats.Conn, js jetstream.JetStream) {
		if _, err := js.Publish(t.Context(), "sb.evt.work.issue.implementing.x", []byte("nonsense")); err != nil {
			t.Fatal(err)
		}
	})(t, s)
}

func changed(t *testing.T, s *containers) {
	connected(func(t *testing.T, _ *nats.Conn, js jetstream.JetStream) {
		stream, err := js.Stream(t.Context(), "EVENTS")
		if err != nil {
			t.Fatal(err)
		}
		config := stream.CachedInfo().Config
		config.MaxAge = 24 * time.Hour
		if _, err := js.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	})(t, s)
}

func definition(t *testing.T, s *containers) {
	connected(func(t *testing.T, _ *nats.Conn, js jetstream.JetStream) {
		bucket, err := js.KeyValue(t.Context(), "definitions")
		if err != nil {
			t.Fatal(err)
		}
		source := []byte("name: tomorrow\ndoes: what no version knows yet\n")
		if _, err := bucket.Put(t.Context(), fmt.Sprintf("%x", sha256.Sum256(source)), source); err != nil {
			t.Fatal(err)
		}
	})(t, s)
}

// full fills the disk of NATS, and has the log grow.
func full(t *testing.T, s *containers) {
	t.Helper()
	_ = exec.Command("docker", "exec", s.name+"-nats", "/usr/bin/dd", "if=/dev/zero", "of=/data/fill", "bs=64k").Run() // until no space is left
	s.post(t, "issues", "issue.json")
}

// TestEachFaultIsNamedWithinAMinute breaks the set of containers in each way, and looks where an operator looks. It
// writes the table of docs/faults.md.
func TestEachFaultIsNamedWithinAMinute(t *testing.T) {
	only := os.Getenv("SIGNALBOX_FAULTS")
	if only == "" {
		t.Skip("skipped: it takes a quarter of an hour; make faults runs it")
	}
	s := newContainers(t)
	for _, file := range []string{"prometheus.yml"} {
		text := strings.ReplaceAll(readFile(t, s.path("deploy/prometheus/"+file)), "15s", "3s")
		if err := os.WriteFile(s.path("deploy/prometheus/"+file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.docker(t, "volume", "create", "--opt", "type=tmpfs", "--opt", "device=tmpfs", "--opt", "o=size=48m,mode=1777", s.name)
	t.Cleanup(func() { _ = exec.Command("docker", "volume", "rm", s.name).Run() })
	// This one keeps the volume while NATS is stopped.
	s.docker(t, "run", "--detach", "--name", s.name+"-holder", "--volume", s.name+":/data", "--volume", "/usr:/usr:ro", s.name, "/usr/bin/sleep", "infinity")
	s.started = append(s.started, s.name+"-holder", s.name+"-fake")
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", s.name+"-holder").Run() })
	s.start(t, "nats", "", "--volume", s.name+":/data")
	s.start(t, "local-forge", "")
	for _, service := range []string{"orchestrator", "orchestrator", "gateway", "pm", "analyst", "tester", "prometheus"} {
		s.start(t, service, "2", "--env", "SIGNALBOX_ACK_WAIT=20s", "--env", "SIGNALBOX_EVERY=2s")
	}
	s.untilHealthy(t)
	s.push(t)
	s.post(t, "issues", "issue.json")
	s.untilState(t, 1, "waiting_for_requirements_clarification")
	s.post(t, "issues/1/comments", "answer.json")
	s.untilState(t, 1, "implementing")

	table := "| fault | after | named by |\n|---|---|---|\n"
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			s.since = time.Now().UTC().Format(time.RFC3339Nano)
			f.begin(t, s)
			seen, took := s.observe(t, f)
			table += fmt.Sprintf("| %s | %d s | %s |\n", f.name, int(took.Seconds())+1, strings.Join(seen, "<br>"))
			f.end(t, s)
		})
	}
	t.Log("\n" + table)
	if !t.Failed() && strings.HasSuffix(only, ".md") {
		text, _, _ := strings.Cut(readFile(t, only), "| fault |")
		if err := os.WriteFile(only, []byte(text+table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// observe looks at each place of a fault, until all name it, for a minute.
func (s *containers) observe(t *testing.T, f fault) (seen []string, took time.Duration) {
	t.Helper()
	began := time.Now()
	left := slices.Clone(f.signs)
	for tick := time.NewTicker(500 * time.Millisecond); len(left) > 0 && time.Since(began) < time.Minute; <-tick.C {
		left = slices.DeleteFunc(left, func(sign string) bool {
			place, want, _ := strings.Cut(sign, ": ")
			kind, name, _ := strings.Cut(place, " ")
			found := regexp.MustCompile("(?i)" + regexp.MustCompile(`\{[a-z].*?\}`).ReplaceAllStringFunc(want, regexp.QuoteMeta)).FindString(places[kind](s, name))
			if found == "" {
				return false
			}
			took = time.Since(began)
			seen = append(seen, cmp.Or(name, kind)+": `"+brief(found)+"`")
			return true
		})
	}
	for _, sign := range left {
		place, want, _ := strings.Cut(sign, ": ")
		kind, name, _ := strings.Cut(place, " ")
		text := places[kind](s, name)
		if kind == "metric" {
			text = strings.Join(regexp.MustCompile(`(?m)^signalbox_(work|agent|forge|nats|storage|gateway|on_duty|foreign|def|stream).*`).FindAllString(text, -1), "\n")
		}
		t.Errorf("within a minute %s does not say %q:\n%.4000s", place, want, text)
	}
	return seen, took
}

var (
	logHead = regexp.MustCompile(`^\{"time".*?"msg":`)
	process = regexp.MustCompile(`"service":"[^"]*",("name":"[^"]*",)?`)
)

// brief returns a sign for a cell of the table, without the time and the name of a process.
func brief(sign string) string {
	sign = process.ReplaceAllString(logHead.ReplaceAllString(sign, ""), "")
	return strings.TrimSpace(fmt.Sprintf("%.150s", strings.ReplaceAll(strings.Join(strings.Fields(sign), " "), "|", "/")))
}
