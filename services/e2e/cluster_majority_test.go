package e2e

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
)

const noMajority = "no majority of the NATS servers"

// loseMajority kills two nodes of three. Nothing is acknowledged, and each caller
// gets the reason. With a second node back everything continues by itself.
func (s *clusterEnv) loseMajority(t *testing.T, dice *rand.Rand) {
	t.Helper()
	s.injected["majority lost"]++
	left := dice.IntN(clusterNodes)
	for i := range s.nodes {
		if i != left {
			s.nodes[i].process.kill()
		}
	}
	acked := int64(-1)
	s.awaitReport(t, "a command", func(ctx context.Context) string {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		nc, _ := connectTo(t, s.urls(left))
		defer nc.Close()
		_, err := client.New(nc, "operator:ann").Note(ctx, "lap/0/0", "remark", "is anybody there?")
		if err == nil {
			t.Fatal("a command is acknowledged that no majority has")
		}
		if acked < 0 { // requests in flight have been answered by now
			acked = s.load.acked.Load()
		}
		return err.Error()
	})
	s.awaitReport(t, "signalbox doctor", func(context.Context) string {
		out, err := exec.Command(binary(t, "signalbox"), "doctor", "--nats", s.urls(left)).CombinedOutput()
		if err == nil {
			t.Fatalf("the doctor finds nothing:\n%s", out)
		}
		return string(out)
	})
	for _, p := range s.orchestrators {
		s.awaitReport(t, "readiness of "+p.name, func(context.Context) string {
			status, body := get(t, p.http(t)+"/readyz")
			if status == http.StatusOK {
				return "it is ready"
			}
			return body
		})
	}
	if now := s.load.acked.Load(); now != acked {
		t.Errorf("%d commands are acknowledged that no majority has", now-acked)
	}
	for i := range s.nodes {
		if i != left {
			s.start(t, i)
		}
	}
	s.load.awaitProgress(t, "the majority is back", 30)
	s.awaitReplicated(t, s.js)
}

// awaitReport waits until ask reports that there is no majority.
func (s *clusterEnv) awaitReport(t *testing.T, source string, ask func(context.Context) string) {
	t.Helper()
	began, answer, first := time.Now(), "", ""
	if !eventually(t.Context(), func(ctx context.Context) bool {
		answer = ask(ctx)
		if first == "" {
			first = answer
		}
		return strings.Contains(answer, noMajority)
	}) {
		s.fatalf(t, "%s: %q, want %q", source, answer, noMajority)
	}
	t.Logf("%s reports it after %s:\n%s", source, since(began), answer)
	if first != answer {
		t.Logf("before, it was:\n%s", first)
	}
}

// http returns the URL of the service's health endpoint.
func (p *process) http(t *testing.T) string {
	t.Helper()
	var line struct{ URL string }
	if err := json.Unmarshal([]byte(p.expect(t, "metrics and health")), &line); err != nil {
		t.Fatal(err)
	}
	return line.URL
}
