package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// newAccess returns a directory with the keys of the services.
func newAccess(t *testing.T, services []string) access.Directory {
	t.Helper()
	d := access.Directory(filepath.Join(t.TempDir(), "access"))
	var parties []access.Party
	for _, name := range services {
		parties = append(parties, partyOf(name))
	}
	if _, err := d.Init(parties...); err != nil {
		t.Fatal(err)
	}
	return d
}

// partyOf returns the party that a service is.
func partyOf(service string) access.Party {
	switch service {
	case "orchestrator", "gateway", "plan-manager", "notify", "console":
		return access.Party{Kind: access.Kind(service)}
	}
	return access.Party{Kind: access.Agent, Name: service}
}

// Each process has an account of its own, and reaches through it all that it needs from
// the report to the pull request. With a pace those that use the forge share its limits.
func TestEachServiceWorksWithinItsAccount(t *testing.T) {
	t.Parallel()
	paced := []string{"--forge-pace", "10ms"}
	s := startEnv(t, envConfig{Accounts: true, Args: map[string][]string{"gateway": paced, "pm": paced}})
	nc, _ := s.nats.connect(t)
	asked, err := nc.SubscribeSync("sb.in.*.api." + subject.Allowance)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	n := s.forge.openIssue(t, "The answer is wrong", vagueReport)
	s.log.await(t, "the questions", func(f *logFollower) bool {
		return f.instances[instanceID(n)].State == "waiting_for_requirements_clarification"
	})
	if _, err := s.forge.ann.Comment(t.Context(), repo, n, clarification); err != nil {
		t.Fatal(err)
	}
	s.log.await(t, "the end", hasEnded(instanceID(n)))
	if done := s.log.get(instanceID(n)); done.State != "completed" {
		t.Fatalf("it ended in %s: %s", done.State, done.Reason)
	}
	if prs := s.forge.pulls(t, n); len(prs) != 1 {
		t.Errorf("pull requests %v, want one", prs)
	}
	s.log.checkLog(t)
	m, err := asked.NextMsg(maxWait)
	if err != nil {
		t.Fatalf("nobody asked for a place among the writes to the forge: %v", err)
	}
	if p, _, err := (access.Entry{}).Requester(m.Subject); err != nil || !p.UsesForge() {
		t.Errorf("%s asked for a place, %v", p, err)
	}
	for _, name := range []string{"gateway", "pm"} {
		if out := strings.Join(s.processes[name].output.snapshot(), "\n"); strings.Contains(out, "an account of its own") {
			t.Errorf("%s was not answered:\n%s", name, out)
		}
	}
}
