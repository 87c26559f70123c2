package app_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	"github.com/signalbox/signalbox/services/notify/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// asking is a lifecycle that begins with a wait for people.
const asking = `workflow: asking
version: 1
initial: waiting
states:
  waiting:
    about: People say which.
    timeout: 24h
    next: [done]
    on: {approved: done}
  done: {final: true}
`

// key is the receiver's secret.
const key = "the secret that the receiver knows"

// receiver is a receiver of webhooks.
type receiver struct {
	*httptest.Server
	testing.TB
	mu      sync.Mutex
	refuses map[string]int // tries that are still refused, by event
	tried   []string       // ids
	came    chan delivery  // what was accepted
}

type delivery struct {
	ID      string `json:"id"`
	Version string `json:"specversion"`
	Source  string
	Type    string
	Subject string
	Data    struct{ Event, Instance, Title, Text, Console string }
	raw     []byte
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{TB: t, refuses: map[string]int{}, came: make(chan delivery, 100)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var d delivery
	if err != nil || json.Unmarshal(body, &d) != nil {
		r.Errorf("not JSON: %q", body)
	}
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s.%s.", q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"))
	mac.Write(body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); q.Header.Get("webhook-signature") != want || q.Header.Get("webhook-id") != d.ID {
		r.Errorf("the signature of %s is %s, want %s", d.ID, q.Header.Get("webhook-signature"), want)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried = append(r.tried, d.ID)
	if r.refuses[d.Data.Event] > 0 {
		r.refuses[d.Data.Event]--
		http.Redirect(w, q, "/elsewhere", http.StatusTemporaryRedirect) // which is not followed
		return
	}
	d.raw = body
	r.came <- d
}

// next waits for what the receiver accepts next.
func (r *receiver) next() delivery {
	r.Helper()
	select {
	case d := <-r.came:
		return d
	case <-time.After(time.Minute):
		r.Fatal("nothing comes")
		return delivery{}
	}
}

// env is a log with accounts, an orchestrator, and a file of targets.
type env struct {
	testing.TB
	server *accesstest.Server
	client *client.Client
	file   string
	log    bytes.Buffer
	counts func() map[string]float64
}

func newEnv(t testing.TB, targets string) *env {
	t.Helper()
	ann := access.Party{Kind: access.Act, Name: "ann"}
	e := &env{TB: t, server: accesstest.Start(t, access.Party{Kind: access.Orchestrator}, access.Party{Kind: access.Notify}, ann)}
	dir := t.TempDir()
	e.file = filepath.Join(dir, "targets")
	for file, text := range map[string]string{filepath.Join(dir, "asking.yaml"): asking, e.file: targets} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	orchestratortest.StartOn(t, service.NATS{URL: e.server.URL, NKey: e.server.Key(t, access.Party{Kind: access.Orchestrator})}, 1,
		orchestratortest.Settings{AckWait: time.Minute, WorkflowDir: dir}, slog.New(slog.DiscardHandler))
	e.client = client.New(e.server.As(t, ann), "operator:ann")
	return e
}

// start runs the service until stop, or the end of the test.
func (e *env) start() (stop func()) {
	e.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- service.Serve(ctx, service.Config{Service: "notify", Log: slog.New(slog.NewTextHandler(&e.log, nil)),
			Flags: service.Flags{NATS: service.NATS{URL: e.server.URL, NKey: e.server.Key(e, access.Party{Kind: access.Notify})}, Grace: 10 * time.Second},
			Setup: func(ctx context.Context, h *service.Host) error {
				defer close(ready)
				e.counts = func() map[string]float64 { return counts(e, h.Metrics) }
				return app.Settings{Targets: e.file, Console: "https://console.example/", Retry: 10 * time.Millisecond, MaxAge: time.Hour}.Setup(ctx, h)
			}})
	}()
	<-ready
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			e.Errorf("it ended with %v", err)
		}
	})
	e.Cleanup(stop)
	return stop
}

// counts returns the deliveries by target and result.
func counts(t testing.TB, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range all {
		if family.GetName() != "signalbox_notifications_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			found[m.GetLabel()[1].GetValue()+" "+m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return found
}

func (e *env) open(id, title string) {
	e.Helper()
	if _, err := e.client.Open(e.Context(), "", "asking", id, instance.Issue{Title: title, Repo: "acme/widgets"}); err != nil {
		e.Fatal(err)
	}
}

func (e *env) approve(id string) {
	e.Helper()
	if _, err := e.client.Signal(e.Context(), id, "approved", "approval", "", nil); err != nil {
		e.Fatal(err)
	}
}

func TestAFactReachesItsReceiverOnceAfterFaultsAndARestart(t *testing.T) {
	slow, ops := newReceiver(t), newReceiver(t)
	slow.refuses["waits"], slow.refuses["completed"] = 2, 1
	e := newEnv(t, fmt.Sprintf("slow: {webhook: '%s/T0PSECRET', secret: %s, events: [waits, completed]}\nops: {webhook: '%s', secret: %s, repositories: [acme/*]}\nother: {webhook: '%s', secret: %s, repositories: [other/*]}\n",
		slow.URL, key, ops.URL, key, ops.URL, key))
	stop := e.start()
	e.open("acme/widgets/1", "@everyone <b>Which\x1b[31m</b> version?")
	one := slow.next()
	if one.Version != "1.0" || one.Type != "signalbox.v1.waits" || one.Subject != "acme/widgets/1" || one.Data.Event != "waits" || one.Source != "https://console.example/" ||
		one.Data.Console != "https://console.example/i/acme/widgets/1" {
		t.Errorf("%s", one.raw)
	}
	if strings.Contains(one.Data.Title, "@everyone") || strings.Contains(one.Data.Title, "\x1b") || bytes.Contains(one.raw, []byte("<b>")) {
		t.Errorf("the title is %q", one.Data.Title)
	}
	if same := ops.next(); same.ID != one.ID {
		t.Errorf("the ids are %s and %s", same.ID, one.ID)
	}
	stop()
	e.approve("acme/widgets/1") // while nothing runs
	e.open("acme/widgets/2", "Another")
	stop = e.start()
	got := map[string]bool{}
	for range 2 {
		d := slow.next()
		got[d.Data.Event+" "+d.Data.Instance] = true
	}
	if !got["completed acme/widgets/1"] || !got["waits acme/widgets/2"] {
		t.Errorf("after the restart came %v", got)
	}
	if d := ops.next(); d.Data.Instance != "acme/widgets/2" { // it has not chosen ends
		t.Errorf("the other target gets %s", d.raw)
	}
	e.open("acme/widgets/3", "A third") // when it arrives, what came before is counted
	ops.next()
	if d := slow.next(); d.Data.Instance != "acme/widgets/3" {
		t.Errorf("a third thing is %s", d.raw)
	}
	if c := e.counts(); c["slow delivered"] < 2 || c["slow again"] != 1 || c["ops delivered"] != 2 || c["other delivered"] != 0 || c["slow given_up"] != 0 {
		t.Errorf("the counts are %v", c)
	}
	stop()
	for name, r := range map[string]*receiver{"slow": slow, "ops": ops} {
		if len(r.came) > 0 {
			t.Errorf("%s got %d more", name, len(r.came))
		}
	}
	if tries := strings.Join(slow.tried[:3], " "); len(slow.tried) != 7 || tries != strings.Join([]string{one.ID, one.ID, one.ID}, " ") {
		t.Errorf("the tries were %v", slow.tried)
	}
	text := e.log.String()
	if !strings.Contains(text, "it answers 307") || strings.Contains(text, "T0PSECRET") || strings.Contains(text, slow.URL) {
		t.Errorf("the log has %s", text)
	}
}

func TestAnotherPartysKeyIsRefused(t *testing.T) {
	e := newEnv(t, "team: {chat: 'ntfy://ntfy.example/topic'}\n")
	nc := e.server.As(t, access.Party{Kind: access.Act, Name: "ann"})
	h := &service.Host{NATS: nc, Name: "notify", Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}
	err := app.Settings{Targets: e.file, Retry: time.Second, MaxAge: time.Hour}.Setup(t.Context(), h)
	if err == nil || !strings.Contains(err.Error(), access.ErrOther.Error()) {
		t.Errorf("it starts with %v", err)
	}
	if nc.Status() != nats.CONNECTED {
		t.Error("the connection is lost")
	}
}
