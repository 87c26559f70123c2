package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/services/signalbox/report"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestAPersonIsAskedWhyWorkIsCancelled(t *testing.T) {
	t.Parallel()
	server := start(t)
	nc := server.Connect(t)
	for i, c := range []struct {
		name   string
		person bool
		typed  string
		flags  []string
		asked  bool
		reason string
	}{
		{"on a terminal", true, "  the key is wrong \n", nil, true, "the key is wrong"},
		{"on a terminal, and an empty line is typed", true, "\n", nil, true, "asked for by operator:bob"},
		{"on a terminal that is closed", true, "", nil, true, "asked for by operator:bob"},
		{"with --reason", true, "not this\n", []string{"--reason", "enough"}, false, "enough"},
		{"with --json", true, "not this\n", []string{"--json"}, false, "asked for by operator:bob"},
		{"without a terminal", false, "not this\n", nil, false, "asked for by operator:bob"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := fmt.Sprintf("acme/widgets/%d", i)
			opened(t, nc, id)
			says := runOn(t, server, 0, term.Env{Person: c.person, Stdin: strings.NewReader(c.typed)}, append([]string{"cancel", id}, c.flags...)...)
			in, err := client.New(nc, "").Get(t.Context(), id)
			if err != nil || in.GetClosed() != "cancelled" || in.GetReason() != c.reason {
				t.Errorf("it is %q because of %q, %v; want %q", in.GetClosed(), in.GetReason(), err, c.reason)
			}
			if asked := strings.Contains(says, "Why should "+id+" be cancelled?"); asked != c.asked {
				t.Errorf("asked is %t, want %t:\n%s", asked, c.asked, says)
			}
		})
	}
}

func TestAReportThatIsTooLongForAnIssueIsOpenedShortened(t *testing.T) {
	t.Parallel()
	server := start(t)
	body := strings.Repeat("a line of a log\n", 12_000)
	says := runOn(t, server, 0, term.Env{Stdin: strings.NewReader("# It breaks\n\nFirst.\n" + body + "Last.\n")},
		"open", "issue", "--file", "-", "--id", "acme/widgets/1")
	contains(t, says, "acme/widgets/1\n", "the report has 192012 bytes, and an issue has room for 65536 characters: only its beginning and its end are sent")
	in, err := client.New(server.Connect(t), "").Get(t.Context(), "acme/widgets/1")
	if err != nil {
		t.Fatal(err)
	}
	kept := in.GetIssue().GetBody()
	if len(kept) > report.MaxBody || !strings.HasPrefix(kept, "First.\n") || !strings.HasSuffix(kept, "Last.") {
		t.Errorf("%d bytes are kept: %.20q … %q", len(kept), kept, kept[max(0, len(kept)-20):])
	}
	contains(t, kept, "bytes are left out here", "was given to signalbox open")
}

func TestATitleThatIsTooLongForAnIssueIsRefused(t *testing.T) {
	t.Parallel()
	server := start(t)
	says := runOn(t, server, 2, term.Env{Stdin: strings.NewReader("")}, "open", "issue", "--title", strings.Repeat("x", 257))
	contains(t, says, "the title has 257 characters, want at most 256")
}

// runOn runs a command to its end as bob and returns its output and its messages.
func runOn(t *testing.T, server *natstest.Server, code int, env term.Env, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	env.User, env.Stdout, env.Stderr, env.Now, env.Log = "operator:bob", &out, &out, time.Now, slog.New(slog.DiscardHandler)
	if got := Run(t.Context(), env, append(args, "--nats", server.URL)); got != code {
		t.Errorf("it ended with %d, want %d:\n%s", got, code, out.String())
	}
	return out.String()
}
