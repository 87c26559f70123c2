package cli

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

var (
	orchestra = access.Party{Kind: access.Orchestrator}
	vera      = access.Party{Kind: access.View, Name: "vera"}
	ann       = access.Party{Kind: access.Act, Name: "ann"}
	ada       = access.Party{Kind: access.Admin, Name: "ada"}
	gate      = access.Party{Kind: access.Gateway}
	notifier  = access.Party{Kind: access.Agent, Name: "pm"}
	dev       = access.Party{Kind: access.Agent, Name: "developer"}
	// nobody has a key that no account is of.
	nobody = access.Party{Kind: access.View, Name: "nobody"}
)

// withAccounts runs a server with accounts and an orchestrator, and returns the function
// that runs a command as a party.
func withAccounts(t *testing.T) (run func(p access.Party, args ...string) (out string, code int)) {
	t.Helper()
	s := accesstest.Start(t, orchestra, vera, ann, ada, gate, notifier, dev)
	orchestratortest.StartOn(t, service.NATS{URL: s.URL, NKey: s.Key(t, orchestra)}, 1, orchestrator.Settings{AckWait: time.Minute},
		slog.New(slog.DiscardHandler))
	keys := map[access.Party]string{}
	for _, p := range []access.Party{orchestra, vera, ann, ada, gate, notifier, dev} {
		keys[p] = s.Key(t, p)
	}
	keys[nobody] = accesstest.Start(t, nobody).Key(t, nobody)
	return func(p access.Party, args ...string) (string, int) {
		var out bytes.Buffer
		env := term.Env{Stdout: &out, Stderr: &out, Stdin: strings.NewReader(""), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		// No command waits for ever for what its account does not reach.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		code := Run(ctx, env, append(args, "--nats", s.URL, "--nats-nkey", keys[p]))
		if ctx.Err() != nil {
			t.Errorf("%s: signalbox %s does not end:\n%s", p, strings.Join(args, " "), out.String())
		}
		return out.String(), code
	}
}

// What each kind of account may do from the command line, on a server that has accounts.
func TestACommandWorksForThoseWhoMay(t *testing.T) {
	run := withAccounts(t)
	const id, noStore = "acme/widgets/1", "may not read the log's store itself, want an account that can admin"
	dir := t.TempDir()
	tasks := filepath.Join(dir, "prd.json")
	if err := os.WriteFile(tasks, []byte(`{"userStories": [{"id": "S1", "title": "t", "priority": 1, "acceptanceCriteria": ["`+"`true`"+`"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by   access.Party
		args string
		code int
		says string
	}{
		{vera, "open issue --id acme/widgets/1 --title t", 1, "view-vera may not open; permitted: gateway, act, admin"},
		{ann, "open issue --id acme/widgets/1 --title t", 0, id},
		{vera, "ls", 0, id},
		{vera, "show " + id, 0, "received"},
		{vera, "history " + id, 0, "operator:ann"},
		{vera, "explain " + id, 0, "received"},
		{vera, "definition show issue", 0, "workflow: issue"},
		{vera, "note " + id + " x", 1, "view-vera may not note; permitted: act, admin"},
		{vera, "pause " + id, 1, "view-vera may not pause; permitted: gateway, act, admin"},
		{vera, "resume " + id, 1, "view-vera may not resume; permitted: gateway, act, admin"},
		{vera, "cancel " + id + " --reason x", 1, "view-vera may not cancel; permitted: gateway, act, admin"},
		{vera, "override " + id + " --to failed --reason x", 1, "view-vera may not override; permitted: admin"},
		{vera, "signal " + id + " closed", 1, "view-vera may not signal; permitted: gateway, act, admin"},
		{vera, "definition migrate " + id + " --reason x", 1, "view-vera may not migrate; permitted: admin"},
		{vera, "audit", 1, "view-vera " + noStore},
		{vera, "backup " + dir + "/vera", 1, "view-vera " + noStore},
		{vera, "doctor", 0, "not checked, nor queues: view-vera " + noStore},
		{ann, "audit", 1, "act-ann " + noStore},
		{ann, "backup " + dir + "/ann", 1, "act-ann " + noStore},
		{ann, "restore " + dir, 1, "it is the key of act-ann, want that of orchestrator"},
		{ann, "note " + id + " x", 0, ""},
		{ann, "learn add --repo acme/widgets x", 0, "3c7e9bc9: confirmed: x"},
		{vera, "learn ls", 0, "confirmed by ann"},
		{vera, "learn add --repo acme/widgets y", 1, "view-vera may not note; permitted: act, admin"},
		{vera, "learn rm 3c7e9bc9", 1, "view-vera may not note; permitted: act, admin"},
		{vera, "learn confirm 3c7e9bc9", 1, "view-vera may not note; permitted: act, admin"},
		{ann, "learn confirm 3c7e9bc9", 0, "3c7e9bc9: confirmed: x"},
		{ann, "learn rm 3c7e9bc9", 0, "3c7e9bc9: removed: x"},
		{ann, "override " + id + " --to failed --reason x", 1, "act-ann may not override; permitted: admin"},
		{ann, "definition migrate " + id + " --reason x", 1, "act-ann may not migrate; permitted: admin"},
		{vera, "retry " + id, 1, "view-vera may not retry; permitted: gateway, act, admin"},
		{vera, "budget " + id + " +5usd", 1, "view-vera may not budget; permitted: gateway, act, admin"},
		{ann, "budget " + id + " +5usd --day", 1, "act-ann may not raise_day; permitted: admin"},
		{vera, "logs " + id, 1, "no agent has reported a result yet"},
		{vera, "diff " + id, 1, "nobody has changed the code yet"},
		{vera, "costs", 0, "INSTANCE"},
		{vera, "state " + id, 1, "no role of issue writes one"},
		{vera, "answer " + id + " 1=x", 1, "it is in received, where pm works"},
		{vera, "approve " + id, 1, "view-vera may not signal; permitted: gateway, act, admin"},
		{vera, "reopen " + id + " --reason x", 1, "view-vera may not reopen; permitted: gateway, act, admin"},
		{vera, "prd import --repo acme/widgets " + tasks, 1, "view-vera may not open; permitted: gateway, act, admin"},
		{ann, "prd import --repo acme/widgets " + tasks, 0, "S1"},
		{vera, "prd export --repo acme/widgets " + tasks, 0, ""},
		{dev, "prd import --timeout 2s --repo acme/widgets " + tasks, 1, "agent-developer does not reach this, want the key of a person"},
		{dev, "approve " + id + " --timeout 2s", 1, "agent-developer does not reach this, want the key of a person"},
		{dev, "reopen " + id + " --reason x --timeout 2s", 1, "agent-developer does not reach this, want the key of a person"},
		{dev, "logs " + id, 1, "no agent has reported a result yet"},
		{dev, "costs", 0, "INSTANCE"},
		{gate, "reopen " + id + " --reason x", 1, "it has not ended"},
		{nobody, "logs " + id, 1, "Authorization Violation"},
		{nobody, "diff " + id, 1, "Authorization Violation"},
		{nobody, "costs", 1, "Authorization Violation"},
		{nobody, "state " + id, 1, "Authorization Violation"},
		{nobody, "approve " + id, 1, "Authorization Violation"},
		{nobody, "prd import --repo acme/widgets " + tasks, 1, "Authorization Violation"},
		{gate, "ls", 0, id},
		{gate, "show " + id, 0, "received"},
		{gate, "watch " + id, 1, "gateway may not watch; permitted: view, act, admin"},
		{gate, "override " + id + " --to failed --reason x --timeout 2s", 1, "gateway does not reach this, want the key of a person"},
		{gate, "audit", 1, "gateway " + noStore},
		{gate, "backup " + dir + "/gateway", 1, "gateway " + noStore},
		{gate, "restore " + dir, 1, "it is the key of gateway, want that of orchestrator"},
		{notifier, "ls", 0, id},
		{notifier, "audit", 1, "agent-pm " + noStore},
		{dev, "ls", 0, id},
		{dev, "history " + id, 0, "operator:ann"},
		{dev, "watch", 1, "agent-developer may not watch; permitted: view, act, admin"},
		{dev, "open issue --title t --timeout 2s", 1, "agent-developer does not reach this, want the key of a person"},
		{dev, "note " + id + " x --timeout 2s", 1, "agent-developer does not reach this, want the key of a person"},
		{dev, "audit", 1, "agent-developer " + noStore},
		{dev, "backup " + dir + "/developer", 1, "agent-developer " + noStore},
		{dev, "restore " + dir, 1, "it is the key of agent-developer, want that of orchestrator"},
		{nobody, "ls", 1, "Authorization Violation"},
		{nobody, "watch " + id, 1, "Authorization Violation"},
		{nobody, "audit", 1, "Authorization Violation"},
		{nobody, "restore " + dir, 1, "Authorization Violation"},
		{orchestra, "ls", 0, id},
		{orchestra, "audit", 0, "nothing missing"},
		{orchestra, "restore " + dir, 1, "an orchestrator runs at"},
		{ada, "audit", 0, "nothing missing"},
		{ada, "doctor", 0, "stream EVENTS"},
		{ada, "override " + id + " --to failed --reason x", 0, ""},
		{vera, "watch " + id, 0, "failed"},
		{ada, "backup " + dir + "/ada", 0, ""},
		{ada, "backup " + dir + "/ada --verify", 0, ""},
		{ada, "restore " + dir + "/ada", 1, "it is the key of admin-ada, want that of orchestrator"},
	} {
		out, code := run(c.by, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: signalbox %s ended with %d, want %d and %q:\n%s", c.by, c.args, code, c.code, c.says, out)
		}
	}
}
