package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestAnIssueBecomesAPullRequest runs one vague issue from its creation on the
// forge to a pull request, every service a process.
func TestAnIssueBecomesAPullRequest(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{})
	n := s.forge.openIssue(t, "The answer is wrong", vagueReport)
	s.log.await(t, "the questions", func(f *logFollower) bool {
		return f.instances[instanceID(n)].State == "waiting_for_requirements_clarification"
	})
	if _, err := s.forge.ann.Comment(t.Context(), repo, n, clarification); err != nil {
		t.Fatal(err)
	}
	s.log.await(t, "the end", hasEnded(instanceID(n)))
	done := s.log.get(instanceID(n))
	if done.State != "completed" {
		t.Fatalf("it ended in %s: %s", done.State, done.Reason)
	}
	if prs := s.forge.pulls(t, n); len(prs) != 1 {
		t.Errorf("pull requests %v, want one", prs)
	}
	if keys := s.forge.comments(t, n); len(keys) != 2 || !strings.HasPrefix(keys[0], "questions-") || keys[1] != "pull-request" {
		t.Errorf("comments %v, want the questions and the pull request", keys)
	}
	s.forge.awaitStatus(t, n, "**Done**")
	if got := s.forge.clone(t, done.Last.Data["branch"], "answer.txt"); got != "42\n" {
		t.Errorf("a clone of the branch says %q", got)
	}
	s.log.checkLog(t)

	t.Run("and every process says how it is", func(t *testing.T) {
		for _, name := range s.processNames() {
			for path, want := range map[string]string{"/healthz": `"go":"go1`, "/readyz": `"ready":true`, "/metrics": "signalbox_"} {
				if status, body := get(t, s.http(t, name)+path); status != http.StatusOK || !strings.Contains(body, want) {
					t.Errorf("%s%s answers %d without %s:\n%s", name, path, status, want, body)
				}
			}
		}
	})
	t.Run("and counts what it does", func(t *testing.T) {
		for name, metrics := range map[string][]string{
			"orchestrator": {
				`signalbox_steps_total{result="success",state="implementing",workflow="issue"} 1`,
				`signalbox_claim_wait_seconds_count{state="implementing",workflow="issue"} 1`,
				`signalbox_state_seconds_count{state="running_tests",workflow="issue"} 1`, "signalbox_conflicts_total", "signalbox_replay_seconds",
				`signalbox_work_pending{role="developer"} 0`,
				`signalbox_work_redelivered{role="developer"} 0`,
			},
			"developer": {`signalbox_agent_work_seconds_count{result="success",role="developer",state="implementing"} 1`,
				`signalbox_agent_busy{role="developer"} 0`},
			"gateway": {`signalbox_gateway_polls_total{repo="acme/answers",result="ok"}`},
		} {
			_, body := get(t, s.http(t, name)+"/metrics")
			for _, m := range metrics {
				if !strings.Contains(body, m) {
					t.Errorf("%s has no metric %s", name, m)
				}
			}
		}
	})
	t.Run("and logs JSON, a line a fact", func(t *testing.T) {
		for _, name := range s.processNames() {
			for _, line := range s.processes[name].output.snapshot() {
				var fact struct{ Time, Level, Msg, Service string }
				if err := json.Unmarshal([]byte(line), &fact); err != nil || fact.Time == "" || fact.Level == "" || fact.Msg == "" ||
					fact.Service == "" {
					t.Errorf("%s logs %s", name, line)
				}
			}
		}
	})
	t.Run("and ends with 0 when it is told to", func(t *testing.T) {
		for _, name := range slices.Backward(s.processNames()) { // agents before the orchestrator
			if code := s.processes[name].terminate(t); code != 0 {
				t.Errorf("%s ended with %d:\n%s", name, code, s.processes[name].output.tail(10))
			}
		}
	})
}

func TestEveryServiceHelps(t *testing.T) {
	t.Parallel()
	for _, name := range serviceNames() {
		out, err := exec.Command(binary(t, name), "--help").Output()
		text := string(out)
		if err != nil || !strings.Contains(text, "Usage: "+name) || !strings.Contains(text, "--nats=URL") || !strings.Contains(text, "--http=") {
			t.Errorf("%s --help: %v\n%s", name, err, text)
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}
