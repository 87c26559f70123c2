package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// env is a log, an orchestrator and a plan-manager; the test plays the roles.
type env struct {
	*testing.T
	ctx      context.Context
	nats     *nats.Conn
	client   *client.Client
	workflow string
	metrics  *prometheus.Registry
	lines    chan slog.Record // what the plan-manager logs
}

// newEnv starts an env, whose lifecycle is task or an overlay on it.
func newEnv(t *testing.T, overlay string) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	server := natstest.Start(t, natstest.Options{})
	settings := orchestratortest.Settings{AckWait: time.Minute}
	w := &env{T: t, ctx: ctx, nats: server.Connect(t), workflow: "task", lines: make(chan slog.Record, 100)}
	if overlay != "" {
		w.workflow, settings.WorkflowDir = "task-here", t.TempDir()
		file := filepath.Join(settings.WorkflowDir, "task-here.yaml")
		if err := os.WriteFile(file, []byte("workflow: task-here\nversion: 1\nextends: task\n"+overlay), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	orchestratortest.Start(t, server.URL, 1, settings)
	w.client = client.New(w.nats, "operator:test")
	w.manage(server.URL)
	return w
}

// manage runs a plan-manager until the test ends.
func (e *env) manage(url string) {
	e.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- service.Serve(ctx, service.Config{
			Service: "plan-manager", Flags: service.Flags{NATS: service.NATS{URL: url}, Grace: 10 * time.Second}, Log: slog.New(e),
			Setup: func(ctx context.Context, h *service.Host) error {
				e.metrics = h.Metrics
				defer close(ready)
				return Settings{Workflow: e.workflow}.Setup(ctx, h)
			},
		})
	}()
	<-ready
	e.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			e.Errorf("the plan-manager ended with %v", err)
		}
	})
}

// Enabled implements slog.Handler.
func (e *env) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (e *env) WithAttrs([]slog.Attr) slog.Handler { return e }

// WithGroup implements slog.Handler.
func (e *env) WithGroup(string) slog.Handler { return e }

// Handle implements slog.Handler.
func (e *env) Handle(_ context.Context, r slog.Record) error {
	select {
	case e.lines <- r:
	default:
	}
	return nil
}

// begin opens a task that has its code.
func (e *env) begin(id string) {
	e.Helper()
	_, err := e.client.OpenWith(e.ctx, "", id, &pb.Open{Workflow: e.workflow, Base: "c0", Issue: wire.Issue(instance.Issue{Title: id})})
	if err != nil {
		e.Fatal(err)
	}
}

// step has whose turn it is report.
func (e *env) step(id string, status instance.Status) {
	e.Helper()
	in, err := e.client.Get(e.ctx, id)
	if err != nil {
		e.Fatal(err)
	}
	role := in.GetOwner()
	reply, err := e.client.DoAs(e.ctx, role, subject.Claim, &pb.Command{Instance: id, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: role + "-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err == nil {
		result := instance.Result{Status: status, Summary: "done", Head: "c1", Evidence: []instance.Evidence{{Name: "tests", OK: status == instance.Success, Commit: "c1"}}}
		_, err = e.client.DoAs(e.ctx, role, subject.Report, &pb.Command{Instance: id, Action: &pb.Command_Report{
			Report: &pb.Report{Token: reply.GetToken(), Result: wire.Result(result)}}})
	}
	if err != nil {
		e.Fatalf("the %s on %s: %v", role, id, err)
	}
}

// ask sends a query over NATS until a person answers it.
func ask[T any](w *env, query, request string) (answer T, refused string) {
	w.Helper()
	for {
		ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
		m, err := w.nats.RequestWithContext(ctx, "sb.api."+query, []byte(request))
		cancel()
		if w.ctx.Err() == nil && (errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded)) {
			continue
		}
		if err != nil {
			w.Fatalf("%s: %v", query, err)
		}
		if text := m.Header.Get(micro.ErrorHeader); text != "" {
			return answer, text
		}
		if err := json.Unmarshal(m.Data, &answer); err != nil {
			w.Fatalf("%s: %v in %s", query, err, m.Data)
		}
		return answer, ""
	}
}
