package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestLogsAreFollowedUntilTheInstanceEnds(t *testing.T) {
	t.Parallel()
	server, ctx := start(t), t.Context()
	nc := server.Connect(t)
	objects, err := store.OpenObjects(ctx, server.JetStream(t), store.ObjectBucket)
	must(t, err)
	must(t, kept{objects}.Put(ctx, "artifact/asked", strings.NewReader("Mend the sum.")))
	report := func(id string, r *pb.Result) {
		token, err := claim(ctx, nc, "developer", id)
		must(t, err)
		_, err = client.New(nc, "developer-1").DoAs(ctx, "developer", subject.Report, &pb.Command{Instance: id, Action: &pb.Command_Report{
			Report: &pb.Report{Token: token, Result: r}}})
		must(t, err)
	}
	move := func(c *client.Client, id, to string) {
		_, err := c.Override(ctx, id, to, "by hand")
		must(t, err)
	}
	failed := &pb.Result{Status: "failure", Summary: "it does not build", Artifacts: []*pb.Artifact{{Name: "implementing.prompt", Object: "artifact/asked"}}}
	next := func(w call) (line string) {
		t.Helper()
		select {
		case line = <-w.lines:
		case <-time.After(time.Minute):
			t.Fatal("nothing is printed")
		}
		return line
	}

	t.Run("from what was said before it, each step once", func(t *testing.T) {
		const id = "a/1"
		c := opened(t, nc, id)
		move(c, id, "implementing")
		report(id, failed)
		w := startCommand(t, server, term.Env{}, "logs", id, "--follow")
		contains(t, next(w), "implementing 1 developer developer-1 failure")
		for _, want := range []string{"it does not build", "implementing.prompt", "Mend the sum."} {
			contains(t, next(w), want)
		}
		move(c, id, "implementing")
		report(id, failed)
		contains(t, next(w), "implementing 2 developer developer-1 failure")
		move(c, id, "completed")
		if rest := w.end(t, 0); strings.Count(rest, "implementing") != 1 {
			t.Errorf("then it prints\n%s", rest)
		}
	})
	t.Run("where nothing was said yet, only the state that is asked for", func(t *testing.T) {
		const id = "a/2"
		c := opened(t, nc, id)
		w := startCommand(t, server, term.Env{}, "logs", id, "--follow", "--state", "fixing_issues", "--json")
		move(c, id, "implementing")
		report(id, failed)
		move(c, id, "fixing_issues")
		report(id, failed)
		contains(t, next(w), `"state":"fixing_issues","attempt":1`, `"texts":[{"name":"implementing.prompt","text":"Mend the sum."}]`)
		_, err := c.Cancel(ctx, id, "enough")
		must(t, err)
		if rest := w.end(t, 0); rest != "" {
			t.Errorf("then it prints\n%s", rest)
		}
	})
	t.Run("until a person ends it", func(t *testing.T) {
		const id = "a/3"
		c := opened(t, nc, id)
		move(c, id, "implementing")
		report(id, failed)
		w := startCommand(t, server, term.Env{}, "logs", id, "--follow")
		contains(t, next(w), "implementing 1")
		contains(t, <-w.says, "following a/3 from sequence ")
		w.stop()
		w.end(t, 0)
		again := startCommand(t, server, term.Env{}, "logs", id, "--follow")
		again.stop() // wherever it is
		again.end(t, 0)
	})
	t.Run("but not for a state that never comes", func(t *testing.T) {
		w := startCommand(t, server, term.Env{}, "logs", "a/3", "--follow", "--state", "implmenting")
		contains(t, <-w.says, "--state implmenting: no lifecycle here has it; did you mean implementing?")
		w.end(t, 2)
	})
	t.Run("of an instance that has ended", func(t *testing.T) {
		contains(t, startCommand(t, server, term.Env{}, "logs", "a/1", "--follow", "--state", "implementing", "--attempt", "2").end(t, 0), "implementing 2")
		startCommand(t, server, term.Env{}, "logs", "a/1", "--follow", "--state", "implmenting").end(t, 1)
		startCommand(t, server, term.Env{}, "logs", "a/4", "--follow").end(t, 1)
	})
}
