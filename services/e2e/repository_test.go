package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
)

// The gateway is a process with an account of its own, and hears of changes by webhooks.
func TestAGatewayFollowsTheRepositoriesThatItsPatternNames(t *testing.T) {
	t.Parallel()
	from, dir := answersRepo(t), ownDir(t)
	f, url := serveForge(t, []string{repo}, from)
	f.SetURL(url)
	ann := connectForge(t, url).ann
	s := &env{envConfig: envConfig{AckWait: maxWait}, dir: dir, group: newProcessGroup(t, dir), processes: map[string]*process{}}
	s.forge, s.access = &testForge{url, ann}, newAccess(t, []string{"orchestrator", "gateway"})
	s.nats, _ = startNATSWith(t, s.group, t.TempDir(), s.access)
	_, js := s.nats.connect(t)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.startProcess(t, "orchestrator").expect(t, `"msg":"running"`)
	s.log = followLog(t, js)
	_, common := s.commandLine("orchestrator")
	args := append(common[:4:4], "--nats-nkey", s.access.Seed(partyOf("gateway")), "--forge-url", url+"/api/v3/", "--forge-token-file", tokenFile(dir),
		"--repo", "acme/*", "--repo", "!acme/secret", "--every", "100ms", "--all", "--webhook", "127.0.0.1:0", "--webhook-secret-file", secret)
	hooks, deliveries := "", 0
	start := func() *process {
		t.Helper()
		p := s.group.start(t, "gateway", binary(t, "gateway"), args...)
		var line struct{ Address string }
		if err := json.Unmarshal([]byte(p.expect(t, "takes deliveries of webhooks")), &line); err != nil {
			t.Fatal(err)
		}
		hooks = "http://" + line.Address
		return p
	}
	tell := func(event, action, repo string) {
		t.Helper()
		deliveries++
		body := fmt.Appendf(nil, `{"action":%q,"repository":{"full_name":%q}}`, action, repo)
		mac := hmac.New(sha256.New, []byte("s3cret"))
		mac.Write(body)
		r, err := http.NewRequest(http.MethodPost, hooks, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "X-GitHub-Event": event,
			"X-GitHub-Delivery": fmt.Sprint("delivery-", deliveries), "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))} {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusAccepted {
			t.Fatalf("%s: %s", event, resp.Status)
		}
	}
	report := func(repo, title string) string {
		t.Helper()
		made, err := ann.CreateIssue(t.Context(), repo, forge.NewIssue{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s/%d", repo, made.Number)
	}
	is := func(id string, paused bool) func(*logFollower) bool {
		return func(l *logFollower) bool { in, ok := l.instances[id]; return ok && in.Paused == paused }
	}

	gateway := start()
	gateway.expect(t, `"repo":"acme/answers"}`)
	first := report(repo, "The answer is wrong")
	s.log.await(t, "the first issue", is(first, false))
	for _, name := range []string{"acme/more", "acme/secret"} {
		if err := f.CreateRepo(t.Context(), name, from); err != nil {
			t.Fatal(err)
		}
	}
	tell("installation_repositories", "added", "acme/more")
	gateway.expect(t, `"repo":"acme/more"}`)
	s.log.await(t, "an issue of the added one", is(report("acme/more", "It is wrong, too"), false))

	if err := f.ArchiveRepo(repo, true); err != nil {
		t.Fatal(err)
	}
	tell("repository", "archived", repo)
	s.log.await(t, "the pause", is(first, true))
	if why := s.log.get(first).Reason; !strings.Contains(why, "acme/answers is archived on the forge") {
		t.Errorf("it is paused: %s", why)
	}
	gateway.kill()
	if err := f.ArchiveRepo(repo, false); err != nil {
		t.Fatal(err)
	}
	gateway = start() // it knows what rested
	s.log.await(t, "the end of the pause", is(first, false))
	s.log.await(t, "an issue after it", is(report(repo, "It is wrong again"), false))
	if code := gateway.terminate(t); code != 0 {
		t.Errorf("the gateway ended with %d", code)
	}
	if said := gateway.output.tail(100); strings.Contains(said, "acme/secret") {
		t.Errorf("what is left out was watched: %s", said)
	}
	s.log.checkLog(t)
}
