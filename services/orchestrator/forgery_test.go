package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// forgeries are headers in which a sender claims the account admin-ada, or hides its own, in
// the forms that one of the parsers of NATS may read in another way than the other does.
func forgeries() map[string]string {
	const claim = `{"acc":"admin-ada"}`
	all := map[string]string{
		"none":                      "",
		"exact":                     "Nats-Request-Info: " + claim + "\r\n",
		"twice":                     strings.Repeat("Nats-Request-Info: "+claim+"\r\n", 2),
		"thrice":                    strings.Repeat("Nats-Request-Info: "+claim+"\r\n", 3),
		"lower case":                "nats-request-info: " + claim + "\r\n",
		"a space before the colon":  "Nats-Request-Info : " + claim + "\r\n",
		"a tab before the colon":    "Nats-Request-Info\t: " + claim + "\r\n",
		"no space after the colon":  "Nats-Request-Info:" + claim + "\r\n",
		"a folded line":             "A: b\r\n Nats-Request-Info: " + claim + "\r\n",
		"a folded value":            "Nats-Request-Info:\r\n " + claim + "\r\n",
		"a bare CR":                 "A: b\rNats-Request-Info: " + claim + "\r\n",
		"a NUL before it":           "A: b\x00Nats-Request-Info: " + claim + "\r\n",
		"a NUL in it":               "Nats-Request\x00-Info: " + claim + "\r\n",
		"a longer key":              "X-Nats-Request-Info: " + claim + "\r\nNats-Request-Info-X: " + claim + "\r\n",
		"a status line":             "Nats-Request-Info: " + claim + "\r\nNATS/1.0 200 OK\r\n",
		"a line without a colon":    "Nats-Request-Info " + claim + "\r\n",
		"a bare LF":                 "A: b\nNats-Request-Info: " + claim + "\n",
		"a bare LF, then an end":    "A: b\nNats-Request-Info: " + claim + "\n\n",
		"a bare LF that ends early": "A: b\n\n",
		"a bare LF, then CRLF":      "A: b\nNats-Request-Info: " + claim + "\r\n",
	}
	for form, header := range all {
		all[form] = "NATS/1.0\r\nContent-Type: application/json\r\n" + header + "\r\n"
	}
	return all
}

// logged is a log that a test reads while others write it.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

func TestNoFormOfAHeaderMakesAPartyAnother(t *testing.T) {
	t.Parallel()
	system, vera, gateway := access.Party{Kind: access.Orchestrator}, access.Party{Kind: access.View, Name: "vera"}, access.Party{Kind: access.Gateway}
	ann, ada := access.Party{Kind: access.Act, Name: "ann"}, access.Party{Kind: access.Admin, Name: "ada"}
	s := accesstest.Start(t, system, vera, gateway, ann, ada, access.Party{Kind: access.Agent, Name: "pm"})
	var log logged
	orchestratortest.StartOn(t, service.NATS{URL: s.URL, NKey: s.Key(t, system)}, 1, orchestratortest.Settings{AckWait: time.Minute},
		slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	log.take()

	const open = `{"instance":%q,"actor":"operator:ada","open":{"workflow":"issue","issue":{"title":"x"}}}`
	reader := client.New(s.As(t, system), "")
	number := 0
	for form, header := range forgeries() {
		t.Run(form, func(t *testing.T) {
			for _, c := range []struct {
				party                access.Party
				to, body             string
				refusal, actor, line string // actor: of the commit, where it is allowed
			}{
				{vera, "sb.api.open", open, "view-vera may not open", "", "requester=view-vera command=open"},
				{vera, "sb.api.expire", `{"instance":%q,"expire":{}}`, "view-vera may not expire", "", "requester=view-vera command=expire"},
				{vera, "sb.api.override", `{"instance":%q,"override":{"to":"completed","reason":"r"}}`, "view-vera may not override", "", "requester=view-vera command=override"},
				{vera, "sb.api.migrate", `{"instance":%q,"migrate":{"workflow":"story"}}`, "view-vera may not migrate", "", "requester=view-vera command=migrate"},
				{gateway, "sb.api.open", open, "the gateway speaks for people of the forge, not for operator:ada", "", ""},
				{ann, "sb.api.override", `{"instance":%q,"override":{"to":"completed","reason":"r"}}`, "act-ann may not override", "", "requester=act-ann command=override"},
				{ann, "sb.api.open", open, "", "operator:ann", ""},
			} {
				number++
				id := fmt.Sprintf("x/%d", number)
				reply, err := s.Raw(t, c.party).Request(c.to, header, fmt.Sprintf(c.body, id))
				if err != nil {
					t.Fatalf("%s on %s: %v", c.party, c.to, err)
				}
				lines := log.take()
				if c.refusal != "" && !strings.Contains(reply, c.refusal) {
					t.Errorf("%s on %s: %.300q, want %q", c.party, c.to, reply, c.refusal)
				}
				if !strings.Contains(lines, c.line) {
					t.Errorf("%s on %s: the log says %q, want %q", c.party, c.to, lines, c.line)
				}
				history, err := reader.History(t.Context(), id, 0)
				switch {
				case c.actor == "" && err == nil && len(history) > 0:
					t.Errorf("%s on %s: it opened %s", c.party, c.to, id)
				case c.actor != "" && (err != nil || len(history) != 1 || history[0].GetCommit().GetActor() != c.actor):
					t.Errorf("%s on %s: the history is %v, %v, want one commit of %s", c.party, c.to, history, err, c.actor)
				}
			}
		})
	}
}
