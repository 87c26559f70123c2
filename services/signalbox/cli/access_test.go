package cli

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/access"
	"github.com/signalbox/signalbox/pkg/access/accesstest"
	"github.com/signalbox/signalbox/pkg/service"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

var (
	orchestra = access.Party{Kind: access.Orchestrator}
	vera      = access.Party{Kind: access.View, Name: "vera"}
	ann       = access.Party{Kind: access.Act, Name: "ann"}
	ada       = access.Party{Kind: access.Admin, Name: "ada"}
)

// withAccounts runs a server with accounts and an orchestrator, and returns the function
// that runs a command as a party.
func withAccounts(t *testing.T) (run func(p access.Party, args ...string) (out string, code int)) {
	t.Helper()
	s := accesstest.Start(t, orchestra, vera, ann, ada)
	orchestratortest.StartOn(t, service.NATS{URL: s.URL, NKey: s.Key(t, orchestra)}, 1, orchestrator.Settings{AckWait: time.Minute},
		slog.New(slog.DiscardHandler))
	keys := map[access.Party]string{}
	for _, p := range []access.Party{vera, ann, ada} {
		keys[p] = s.Key(t, p)
	}
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
