package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

// upProcess is a process of `signalbox up` with all its ports.
type upProcess struct {
	*testing.T
	data               string
	forge, link, nats  string // what it prints
	http, webhook, mcp string
	tokens             map[string]string // by who has them
}

// withUp starts the whole system, calls test, and ends it.
func withUp(t *testing.T, test func(*upProcess)) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, name := range []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	g, dir := gittest.Repo(t), t.TempDir()
	put := func(file, text string) string {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	put(filepath.Join(g.Dir(), ".signalbox.yaml"), "test: {command: 'true'}\n")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	u := &upProcess{T: t, data: filepath.Join(dir, "data"), http: porttest.Address(t), webhook: porttest.Address(t), tokens: map[string]string{"a guess": "AAAAAAAAAAAAAAAAAAAAAAAAAA", "hook": "hook-secret", "mcp": "mcp-secret"}}
	up := exec.CommandContext(t.Context(), "signalbox", "up", "--data", u.data, "--repo", "acme/widgets="+g.Dir(), "--listen", "127.0.0.1:0", "--http", u.http,
		"--webhook", u.webhook, "--webhook-secret-file", put(filepath.Join(dir, "hook"), u.tokens["hook"]), "--sandbox", "none", "--every", "1h", "--sync", "100ms",
		"--brain", "developer=exec:true")
	said, err := up.StderrPipe()
	if err = errors.Join(err, up.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(up.Process.Signal(os.Interrupt), up.Wait()); err != nil {
			t.Errorf("up ends with %v", err)
		}
	}()
	printed := map[string]string{}
	lines := bufio.NewScanner(said)
	for printed["Ctrl-C"] == "" {
		if !lines.Scan() {
			t.Fatalf("up does not start: %v", printed)
		}
		name, rest, _ := strings.Cut(lines.Text(), " http")
		if !strings.HasPrefix(name, "sign in") {
			name, rest, _ = strings.Cut(lines.Text(), " ")
		} else {
			rest = "http" + rest
		}
		printed[name] = strings.TrimSpace(rest)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	u.forge, _, _ = strings.Cut(printed["forge"], ",")
	u.link, _, _ = strings.Cut(printed["sign in"], " ")
	u.nats, _, _ = strings.Cut(printed["NATS"], ",")
	for who, file := range map[string]string{"the person": "person.token", "the services": "bot.token"} {
		text, err := os.ReadFile(filepath.Join(u.data, "forge", file))
		if err != nil {
			t.Fatal(err)
		}
		u.tokens[who] = strings.TrimSpace(string(text))
	}
	assistant := exec.CommandContext(t.Context(), "signalbox", "mcp", "--nats", u.nats, "--listen", "127.0.0.1:0", "--listen-token-file", put(filepath.Join(dir, "mcp"), u.tokens["mcp"]))
	served, err := assistant.StderrPipe()
	if err = errors.Join(err, assistant.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(assistant.Process.Signal(os.Interrupt), assistant.Wait()); err != nil {
			t.Errorf("mcp ends with %v", err)
		}
	}()
	line, err := bufio.NewReader(served).ReadString('\n')
	_, u.mcp, _ = strings.Cut(strings.TrimSpace(line), "listening at ")
	if err != nil || u.mcp == "" {
		t.Fatalf("mcp prints %q, %v", line, err)
	}
	test(u)
}

// try is a request that is to be refused.
type try struct {
	as      string // whose token it has; empty: nobody's
	request string // method and URL
	headers string // NAME: VALUE, separated by |
	body    string
	want    int
}

// send sends a request as it is: its path is not cleaned.
func (u *upProcess) send(c try) (status int, header http.Header, body string) {
	u.Helper()
	method, url, _ := strings.Cut(c.request, " ")
	r, err := http.NewRequestWithContext(u.Context(), method, url, strings.NewReader(c.body))
	if err != nil {
		u.Fatal(err)
	}
	if token := u.tokens[c.as]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
		if strings.Contains(url, ".git/") {
			r.SetBasicAuth("x", token)
		}
	}
	for h := range strings.SplitSeq(c.headers, "|") {
		name, value, _ := strings.Cut(h, ": ")
		switch name {
		case "":
		case "Host":
			r.Host = value
		case "Content-Length":
			_, _ = fmt.Sscan(value, &r.ContentLength)
			r.Header.Set("Expect", "100-continue") // no body is sent before it is wanted
		default:
			r.Header.Set(name, value)
		}
	}
	transport := &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		u.Errorf("%+v: %v", c, err)
		return 0, nil, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, resp.Header, string(text)
}

// A stranger is another user or a page in a browser of this machine: they reach each port.
func TestUpRefusesStrangersOnEachPort(t *testing.T) {
	withUp(t, func(u *upProcess) {
		const repo, json = "/api/v3/repos/acme/widgets", "Content-Type: application/json"
		const signed = json + "|X-GitHub-Event: issues|X-GitHub-Delivery: d-1|X-Hub-Signature-256: sha256="
		hook, zeros := "POST http://"+u.webhook+"/", strings.Repeat("0", 64)
		_, header, _ := u.send(try{request: "HEAD " + u.link})
		if header.Get("Set-Cookie") != "" {
			t.Error("looking at the link signs in")
		}
		status, header, _ := u.send(try{request: "GET " + u.link})
		session, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
		if status != http.StatusSeeOther || session == "" || header.Get("Location") != "/" {
			t.Fatalf("the link answers %d, to %q", status, header.Get("Location"))
		}
		session = "Cookie: " + session
		tries := []try{
			// the forge, as nobody, by a guess, as the services, by a session, and by pages of others
			{"", "GET " + u.forge + "/", "", "", 401},
			{"", "GET " + u.forge + "/acme/widgets", "", "", 401},
			{"", "GET " + u.forge + repo, "", "", 404},
			{"", "POST " + u.forge + "/api/graphql", json, `{"query":"{viewer{login}}"}`, 401},
			{"", "GET " + u.forge + "/acme/widgets.git/info/refs?service=git-upload-pack", "", "", 401},
			{"", "POST " + u.forge + "/acme/widgets.git/git-receive-pack", "", "0000", 401},
			{"a guess", "GET " + u.forge + "/acme/widgets", "", "", 401},
			{"a guess", "GET " + u.forge + "/api/v3/user", "", "", 401},
			{"the services", "POST " + u.forge + repo + "/hooks", json, `{"config":{"url":"http://127.0.0.1:1/"}}`, 403},
			{"the services", "PATCH " + u.forge + repo, json, `{"archived":true}`, 403},
			{"the services", "DELETE " + u.forge + repo + "/branches/main/protection", "", "", 403},
			{"the services", "POST " + u.forge + "/settings/apps", "Content-Type: application/x-www-form-urlencoded", "manifest={}", 403},
			{"", "GET " + u.forge + "/api/v3/user", session, "", 401},
			{"", "POST " + u.forge + "/settings/apps", session, "", 401},
			{"", "GET " + u.forge + "/acme/widgets.git/info/refs?service=git-upload-pack", session, "", 401},
			{"", "GET " + u.link, "", "", 403},
			{"the person", "GET " + u.forge + "/acme/widgets", "Host: evil.example.test", "", 421},
			{"the person", "POST " + u.forge + repo + "/issues", json + "|Origin: https://evil.example.test", `{"title":"t"}`, 403},
			{"the person", "POST " + u.forge + repo + "/issues", json + "|Origin: null", `{"title":"t"}`, 403},
			{"the person", "POST " + u.forge + repo + "/issues", json + "|Sec-Fetch-Site: same-site", `{"title":"t"}`, 403},
			{"the person", "GET " + u.forge + "/acme/..%2f..%2fperson.token/info/refs?service=git-upload-pack", "", "", 404},
			{"the person", "GET " + u.forge + "/acme/widgets.git/config", "", "", 404},
			{"the person", "GET " + u.forge + "/acme/widgets.git/info/refs?service=git-upload-archive", "", "", 403},
			{"the person", "GET " + u.forge + repo + "/contents/..%2f..%2fconfig", "", "", 404},
			{"the person", "GET " + u.forge + "/acme/widgets/commit/--output=x", "", "", 404},
			// webhooks
			{"", "GET http://" + u.webhook + "/", "", "", 405},
			{"", hook, "Content-Type: application/x-www-form-urlencoded", "payload={}", 415},
			{"", hook, json + "|X-GitHub-Event: issues|X-GitHub-Delivery: d-1", "{}", 401},
			{"", hook, signed + zeros, "{}", 401},
			{"", hook, signed + zeros + "|Content-Length: 99999999", "{}", 413},
			{"", hook, strings.Replace(signed, "d-1", "d.*.>", 1) + zeros, "{}", 400},
			// metrics and health
			{"", "GET http://" + u.http + "/debug/pprof/heap", "", "", 404},
			{"", "GET http://" + u.http + "/debug/vars", "", "", 404},
			{"", "GET http://" + u.http + "/metrics", "Host: evil.example.test", "", 421},
			// assistants
			{"", "POST " + u.mcp, json, "{}", 401},
			{"a guess", "POST " + u.mcp, json, "{}", 401},
			{"the person", "POST " + u.mcp, json, "{}", 401},
			{"mcp", "POST " + u.mcp, json + "|Host: evil.example.test", "{}", 421},
			{"mcp", "POST " + u.mcp, json + "|Origin: https://evil.example.test", "{}", 403},
		}
		for _, c := range tries {
			status, _, body := u.send(c)
			if status != c.want {
				t.Errorf("%s: %s with %q: %d %.200s, want %d", c.as, c.request, c.headers, status, body, c.want)
			}
		}
		u.script()
		u.assistant()
		u.bus()
		u.noticed()
	})
}

// script opens an issue whose words a browser could take for its own.
func (u *upProcess) script() {
	body, _ := json.Marshal(map[string]string{"title": "</title><script>alert(1)</script>", "body": "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n" +
		"[a](javascript:alert(1)) [b](JaVaScRiPt&colon;alert(1)) ![c](http://evil.example.test/x.png)\n\n<meta http-equiv=refresh content='0;url=//evil.example.test'>\n\n[d]: data:text/html,x\n[d]"})
	if status, _, text := u.send(try{"the person", "POST " + u.forge + "/api/v3/repos/acme/widgets/issues", "Content-Type: application/json", string(body), 201}); status != 201 {
		u.Fatalf("%d %s", status, text)
	}
	status, header, page := u.send(try{as: "the person", request: "GET " + u.forge + "/acme/widgets/issues/1"})
	policy := header.Get("Content-Security-Policy")
	if status != http.StatusOK || !strings.Contains(page, "alert(1)") || !strings.HasPrefix(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		u.Errorf("the page: %d, policy %q", status, policy)
	}
	if live := regexp.MustCompile(`(?i)<(script|img|iframe|form|meta http|svg)|href="?(javascript|data):`).FindString(page); live != "" {
		u.Errorf("the page has %q:\n%s", live, page)
	}
}

// assistant calls tools with hostile arguments.
func (u *upProcess) assistant() {
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(u.Context(),
		&mcp.StreamableClientTransport{Endpoint: u.mcp, HTTPClient: &http.Client{Transport: bearer{u.tokens["mcp"]}}, MaxRetries: -1}, nil)
	if err != nil {
		u.Fatal(err)
	}
	defer c.Close()
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"show", map[string]any{"instance": "--data=" + u.data}},
		{"show", map[string]any{"instance": "../../forge/person.token"}},
		{"show", map[string]any{"instance": "x\x1b]0;x\a\n--data=/"}},
		{"show", map[string]any{"instance": "x", "data": u.data}},
		{"show", map[string]any{"instance": "x", "nats": "nats://evil.example.test"}},
		{"show", map[string]any{"instance": strings.Repeat("x", 1<<17)}},
		{"show", map[string]any{"instance": []any{"x", "--data=/"}}},
		{"definition_show", map[string]any{"name": filepath.Join(u.data, "forge", "person.token")}},
	} {
		text, failed := called(u.T, c, call.tool, call.args)
		if failed.Error == "" || strings.Contains(text, u.tokens["the person"]) {
			u.Errorf("%s %.100v: %.300s", call.tool, call.args, text)
		}
	}
	if _, err := c.CallTool(u.Context(), &mcp.CallToolParams{Name: "cancel", Arguments: map[string]any{"instance": "acme/widgets/1", "reason": "x"}}); err == nil {
		u.Error("without --write there is a tool that cancels")
	}
}

// bus connects to NATS as a stranger.
func (u *upProcess) bus() {
	for name, login := range map[string]nats.Option{
		"nobody": nats.Name("nobody"), "a wrong password": nats.UserInfo("signalbox", "password"), "no password": nats.UserInfo("signalbox", ""),
		"the system account": nats.UserInfo("sys", "sys"), "a token of the forge": nats.Token(u.tokens["the person"]),
		"a name that steers terminals": nats.UserInfo("a\u009b31m\x1b[2J\u202eb", "x"), "a long name": nats.UserInfo(strings.Repeat("x", 3000), "x"),
	} {
		if c, err := nats.Connect(u.nats, login); !errors.Is(err, nats.ErrAuthorization) {
			c.Close()
			u.Errorf("as %s it ends with %v", name, err)
		}
	}
}

// noticed holds that the log names what was refused, that it is counted, and that no secret is
// in what others can read.
func (u *upProcess) noticed() {
	text, err := os.ReadFile(filepath.Join(u.data, "signalbox.log"))
	if err != nil {
		u.Fatal(err)
	}
	log := string(text)
	_, _, metrics := u.send(try{request: "GET http://" + u.http + "/metrics"})
	for _, want := range []string{`"request refused"`, "the credentials are nobody's", `"delivery refused"`, "authentication error", "no server of this name", "another origin"} {
		if !strings.Contains(log, want) {
			u.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
	if !regexp.MustCompile(`signalbox_gateway_deliveries_total\{.*Unauthorized.*\} [1-9]`).MatchString(metrics) {
		u.Error("the refused deliveries are not counted")
	}
	for _, want := range []string{`port="forge",why="the credentials are nobody's"`, `port="forge",why="no server of this name is here"`,
		`port="forge",why="a page of another origin may change nothing here"`, `port="http",why="no server of this name is here"`, `port="nats",why="authentication error"`} {
		if !regexp.MustCompile(`signalbox_requests_refused_total\{` + want + `\} [1-9]`).MatchString(metrics) {
			u.Errorf("the metrics do not count %s", want)
		}
	}
	if strings.ContainsAny(log, "\u009b\u202e\x1b") || len(log) > 64<<10 {
		u.Errorf("the log has %d bytes, or steers a terminal", len(log))
	}
	_, code, _ := strings.Cut(u.link, "code=")
	for who, secret := range u.tokens {
		if secret != "" && (strings.Contains(log, secret) || strings.Contains(metrics, secret)) {
			u.Errorf("the token of %s is in the log or the metrics", who)
		}
	}
	if code == "" || strings.Contains(log, code) {
		u.Error("the code of the link is in the log")
	}
}

// The cloned repository has a data directory with a token and an address that its author chose,
// and a log that is a link out of it.
func TestUpTakesNoDataDirectoryOfARepository(t *testing.T) {
	g, to := gittest.Repo(t), filepath.Join(t.TempDir(), "clone")
	forge := filepath.Join(g.Dir(), ".signalbox", "forge")
	if err := errors.Join(os.MkdirAll(forge, 0o700), os.WriteFile(filepath.Join(forge, "address"), []byte("0.0.0.0:0"), 0o600),
		os.WriteFile(filepath.Join(forge, "person.token"), []byte("known"), 0o600), os.Symlink("../../out", filepath.Join(g.Dir(), ".signalbox", "signalbox.log"))); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, g, "add", "-A", "-f")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	gittest.Run(t, git.New(""), "clone", "-q", g.Dir(), to)
	up := exec.CommandContext(t.Context(), "signalbox", "up", "--repo", ".", "--listen", "127.0.0.1:0", "--sandbox", "none", "--brain", "developer=exec:true")
	up.Dir = to
	up.Cancel = func() error { return up.Process.Signal(syscall.SIGTERM) }
	out, err := up.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "came with a git repository") {
		t.Errorf("it ends with %v:\n%s", err, out)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(to), "out")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it wrote out of the repository")
	}
}
