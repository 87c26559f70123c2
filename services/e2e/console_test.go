package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/testkit/browsertest"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

// A page stays open while each part is killed and started again. It shows the next move by itself.
func TestAnOpenPageOutlivesTheRestartOfEachPart(t *testing.T) {
	t.Parallel()
	address := porttest.Address(t)
	b := browsertest.Open(t, "http://"+address)
	s := startEnv(t, envConfig{AckWait: 2 * time.Second})
	link := filepath.Join(s.dir, "link")
	start := func(name string) {
		switch name {
		case natsName:
			s.processes[name] = s.nats.start(t)
			return
		case "console":
			s.processes[name] = s.group.start(t, name, binary(t, name), "--nats", s.nats.url(), "--http", "127.0.0.1:0", "--listen", address, "--link-file", link)
		default:
			s.processes[name] = s.startProcess(t, name)
		}
		s.processes[name].expect(t, `"msg":"running"`)
	}
	signIn := func() {
		at, err := os.ReadFile(link)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(strings.TrimSpace(string(at)), address)
		b.Go(code)
		b.Wait("document.querySelector('h1')?.innerText === 'Board'")
	}
	start("console")
	signIn()
	id := instanceID(s.forge.openIssue(t, "The answer is wrong", vagueReport))
	if err := s.log.waitUntil(t.Context(), func(f *logFollower) bool {
		return f.instances[id].State == "waiting_for_requirements_clarification"
	}); err != nil {
		t.Fatal(err)
	}
	const live = "document.getElementById('stream')?.classList.contains('live')"
	b.Go("/i/" + id)
	b.Wait(live)
	b.Run("window.same = true")
	for _, part := range []string{"orchestrator", natsName, "gateway", "pm", "analyst", "developer"} {
		s.processes[part].kill()
		start(part)
		why := "after the restart of " + part
		if _, err := s.client.Pause(t.Context(), id, why); err != nil {
			t.Fatal(err)
		}
		moved := time.Now()
		b.Within(maxWait, fmt.Sprintf("document.getElementById('now').innerText.includes(%q)", why))
		t.Logf("%s: the page shows the next move after %s", part, time.Since(moved).Round(time.Millisecond))
		if _, err := s.client.Resume(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.forge.ann.Comment(t.Context(), repo, 1, clarification); err != nil {
		t.Fatal(err)
	}
	b.Within(maxWait, "document.querySelector('#now dd code')?.innerText === 'completed' && window.same === true")

	s.processes["console"].kill()
	b.Shows("not connected")
	start("console")
	b.Within(maxWait, "document.querySelector('h1')?.innerText === 'Sign in'") // its sessions ended with it
	signIn()
	if wrong := b.Wrong(); len(wrong) > 0 {
		t.Errorf("the pages did %q", wrong)
	}
}
