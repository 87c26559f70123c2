package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// start runs a server with an orchestrator until the test ends.
func start(t *testing.T) *natstest.Server {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	orchestrate(t, server.URL)
	return server
}

// orchestrate runs an orchestrator until the test ends or stop is called.
func orchestrate(t *testing.T, url string) (stop func()) {
	t.Helper()
	return orchestratortest.Start(t, url, 1, orchestrator.Settings{AckWait: time.Minute})
}

func TestOverARunningSystem(t *testing.T) {
	scripts, err := filepath.Glob("testdata/running/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			server := start(t)
			testscript.Run(t, testscript.Params{Files: []string{script}, Setup: func(e *testscript.Env) error {
				e.Setenv("SIGNALBOX_NATS", server.URL)
				e.Setenv("USER", "bob")
				return nil
			}, Cmds: agentCommands(t, server.Connect(t))})
		})
	}
}

// agentCommands are the script commands that act as agents and as the gateway:
//
//	claim ROLE INSTANCE         an agent claims the work
//	report ROLE INSTANCE FILE   an agent claims it, unless it has, and reports the result in the file
//	learned ROLE INSTANCE PATH TEXT  an agent notes what it learned
//	dead ROLE INSTANCE          the server gives up on the work
//	gateway OWNER/NAME          a gateway for one repository, until the script ends
//	configured OWNER/NAME FILE  a gateway says until the script ends that the JSON in the file is in force, or in FILE that it is wrong
func agentCommands(t *testing.T, nc *nats.Conn) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"ends": ends,
		"claim": func(ts *testscript.TestScript, _ bool, args []string) {
			_, err := claim(t.Context(), nc, args[0], args[1])
			ts.Check(err)
		},
		"report": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(claimAndReport(t.Context(), nc, args[0], args[1], ts.ReadFile(args[2])))
		},
		"learned": func(ts *testscript.TestScript, _ bool, args []string) {
			_, err := client.New(nc, args[0]+"-1").DoAs(t.Context(), args[0], subject.Note, &pb.Command{Instance: args[1], Actor: args[0] + "-1",
				Action: &pb.Command_Note{Note: &pb.Note{Kind: "learning", Text: args[3], Learning: &pb.Learning{Path: args[2]}}}})
			ts.Check(err)
		},
		"configured": func(ts *testscript.TestScript, _ bool, args []string) {
			configured(ts, nc, args[0], ts.ReadFile(args[1]))
		},
		"dead": func(ts *testscript.TestScript, _ bool, args []string) {
			in, err := client.New(nc, "test").Get(t.Context(), args[1])
			ts.Check(err)
			js, err := jetstream.New(nc)
			ts.Check(err)
			_, err = js.Publish(t.Context(), strings.TrimSuffix(subject.MaxDeliveries, "*")+args[0],
				fmt.Appendf(nil, `{"stream_seq":%d,"deliveries":50}`, in.GetWork()))
			ts.Check(err)
		},
		"gateway": func(ts *testscript.TestScript, _ bool, args []string) { gateway(ts, nc, args[0]) },
	}
}

// claim claims the work, unless it is claimed, and returns the token.
func claim(ctx context.Context, nc *nats.Conn, role, id string) (uint32, error) {
	c := client.New(nc, role+"-1")
	in, err := c.Get(ctx, id)
	if err != nil || in.GetClaim() != nil {
		return in.GetClaim().GetToken(), err
	}
	reply, err := c.DoAs(ctx, role, subject.Claim, &pb.Command{Instance: id, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: role + "-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	return reply.GetToken(), err
}

// claimAndReport claims the work, unless it is claimed, and reports the result.
func claimAndReport(ctx context.Context, nc *nats.Conn, role, id, result string) error {
	var r instance.Result
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		return err
	}
	token, err := claim(ctx, nc, role, id)
	if err != nil {
		return err
	}
	_, err = client.New(nc, role+"-1").DoAs(ctx, role, subject.Report, &pb.Command{Instance: id, Action: &pb.Command_Report{
		Report: &pb.Report{Token: token, Result: wire.Result(r)}}})
	return err
}

// gateway opens issues of one repository, until the script ends.
func configured(ts *testscript.TestScript, nc *nats.Conn, repo, said string) {
	sub, err := nc.Subscribe(subject.Configuration, func(m *nats.Msg) {
		var asked forgeside.ConfigurationRequest
		answer := nats.NewMsg(m.Reply)
		answer.Data = []byte(said)
		switch err := json.Unmarshal(m.Data, &asked); {
		case err != nil || asked.Repo != repo:
			answer.Header.Set("Nats-Service-Error", "the gateway does not watch it")
			answer.Header.Set("Nats-Service-Error-Code", forgeside.NotWatched)
		case !strings.HasPrefix(said, "{"):
			answer.Header.Set("Nats-Service-Error", "the configuration is wrong")
			answer.Header.Set("Nats-Service-Error-Code", forgeside.Misconfigured)
		}
		_ = m.RespondMsg(answer)
	})
	ts.Check(err)
	ts.Check(nc.Flush())
	ts.Defer(func() { ts.Check(sub.Unsubscribe()) })
}

func gateway(ts *testscript.TestScript, nc *nats.Conn, repo string) {
	number := 0
	sub, err := nc.Subscribe(subject.OpenIssue, func(m *nats.Msg) {
		var r struct{ Repo, Title, Body string }
		err := json.Unmarshal(m.Data, &r)
		if err == nil && r.Repo != "" && r.Repo != repo {
			err = fmt.Errorf("nobody watches %s", r.Repo)
		}
		id := fmt.Sprintf("%s/%d", repo, number+1)
		if err == nil {
			number++
			_, err = client.New(nc, "gateway").Open(context.Background(), "", "issue", id,
				instance.Issue{Repo: repo, Number: number, Title: r.Title, Body: r.Body, Author: "ann"})
		}
		answer := nats.NewMsg(m.Reply)
		answer.Data = []byte(`{"instance":"` + id + `"}`)
		if err != nil {
			answer.Header.Set("Nats-Service-Error", err.Error())
		}
		_ = m.RespondMsg(answer)
	})
	ts.Check(err)
	ts.Check(nc.Flush())
	ts.Defer(func() { ts.Check(sub.Unsubscribe()) })
}
