package docs_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// example matches one `nats request SUBJECT 'BODY'` of a page. A comment after it
// is the code of the expected refusal.
var example = regexp.MustCompile(`(?m)^nats request\s+(\S+)\s+'([^']*)'(?: # (\w+))?$`)

func TestTheExamplesOfTheProtocolAreAnsweredAsThePageSays(t *testing.T) {
	nc := orchestrated(t)
	all := example.FindAllStringSubmatch(page(t, "docs/agent-protocol.md"), -1)
	if len(all) < 20 {
		t.Fatalf("only %d examples found", len(all))
	}
	for _, m := range all {
		subject, body, want := m[1], m[2], m[3]
		msg, err := nc.Request(subject, []byte(body), 30*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		var reply struct {
			Refusal struct{ Code, Message string }
		}
		if err := json.Unmarshal(msg.Data, &reply); err != nil {
			t.Fatalf("%s: %v in %s", subject, err, msg.Data)
		}
		if reply.Refusal.Code != want {
			t.Errorf("%s %s\nwas answered %q %s, the page says %q", subject, body, reply.Refusal.Code, reply.Refusal.Message, want)
		}
	}
}

func TestTheJSONOfTheProtocolIsWellFormed(t *testing.T) {
	for _, m := range fence.FindAllStringSubmatch(page(t, "docs/agent-protocol.md"), -1) {
		if m[1] == "json" && !json.Valid([]byte(m[2])) {
			t.Errorf("not JSON:\n%s", m[2])
		}
	}
}

// orchestrated starts an orchestrator process on an empty log and returns a
// connection to its server.
func orchestrated(t *testing.T) *nats.Conn {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	var log strings.Builder
	cmd := exec.Command(binary(t, "orchestrator"), "--nats", server.URL)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("the orchestrator ended: %v\n%s", err, log.String())
		}
	})
	nc := server.Connect(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := client.New(nc, "").List(ctx, &pb.ListRequest{}); err != nil { // returns when the orchestrator answers
		t.Fatal(err)
	}
	return nc
}
