package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
)

// hook is the webhook of a gateway that has just started, and what handles deliveries.
type hook struct {
	*env
	*webhook
	*deliveries
}

func (e *env) hook(of repository) hook {
	e.Helper()
	js, registry := e.server.JetStream(e.T), prometheus.NewRegistry()
	log := slog.New(slog.DiscardHandler)
	return hook{e,
		&webhook{js: js, secrets: &secrets{given: "s3cret", log: log}, taken: newTaken(registry), log: log},
		&deliveries{js: js, watched: watching(of), handled: newHandled(registry), log: log},
	}
}

// watched is all that watches the repository.
func (e *env) watched(p *poller) repository {
	f := e.forge.Client("signalbox")
	return repository{p, &closings{forge: f, client: p.client, cursors: p.cursors, repo: widgets, now: time.Now, log: p.log},
		&pulls{forge: f, client: p.client, cursors: p.cursors, repo: widgets, now: time.Now, log: p.log, permissions: p.permissions}, nil}
}

// posted is a delivery as the forge sends it.
func posted(event, id, secret string, body []byte) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	for name, value := range map[string]string{"X-GitHub-Event": event, "X-GitHub-Delivery": id, "Content-Type": "application/json",
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))} {
		r.Header.Set(name, value)
	}
	return r
}

func (h hook) answer(r *http.Request) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func (h hook) deliver(event, id string, body any) {
	h.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.Fatal(err)
	}
	if status := h.answer(posted(event, id, "s3cret", data)); status != http.StatusAccepted {
		h.Fatalf("delivery %s: %d", id, status)
	}
}

// settle handles what is delivered until nothing is left.
func (h hook) settle() {
	h.Helper()
	consumer, err := h.deliveries.js.Consumer(h.ctx, subject.DeliveryStream, subject.DeliveryReader)
	if err != nil {
		h.Fatal(err)
	}
	stream, err := h.deliveries.js.Stream(h.ctx, subject.DeliveryStream)
	if err != nil {
		h.Fatal(err)
	}
	for last := stream.CachedInfo().State.LastSeq; ; {
		info, err := consumer.Info(h.ctx)
		if err != nil {
			h.Fatal(err)
		}
		if info.Delivered.Stream >= last {
			return
		}
		if err := h.round(h.ctx, consumer); err != nil {
			h.Fatal(err)
		}
	}
}

func issueEvent(action string, number int) map[string]any {
	return map[string]any{"action": action, "issue": map[string]any{"number": number}, "repository": map[string]any{"full_name": widgets}}
}

func commentEvent(action string, number int, at time.Time) map[string]any {
	e := issueEvent(action, number)
	e["comment"] = map[string]any{"created_at": at}
	return e
}

func TestADeliveryAndAPollOfTheSameFactGiveOneSignal(t *testing.T) {
	for _, order := range []string{"hook", "poll", "hook poll", "poll hook", "hook hook poll hook", "late", "twice"} {
		t.Run(order, func(t *testing.T) {
			e := newEnv(t)
			p := e.poller()
			e.poll(p)
			h := e.hook(e.watched(p))
			issue := e.report(e.ann, "The sum is wrong")
			first := e.say(e.ann, issue, "I see that, too.")
			n := 0
			tell := func() {
				n++
				h.deliver("issues", fmt.Sprint("opened-", n), issueEvent("opened", issue))
				h.deliver("issue_comment", fmt.Sprint("comment-", n), commentEvent("created", issue, first.CreatedAt))
				h.settle()
			}
			switch order {
			case "late": // the comment's delivery before that of the issue
				h.deliver("issue_comment", "comment", commentEvent("created", issue, first.CreatedAt))
				h.settle()
				h.deliver("issues", "opened", issueEvent("opened", issue))
				h.settle()
			case "twice": // with the same id
				for range 2 {
					h.deliver("issue_comment", "comment", commentEvent("created", issue, first.CreatedAt))
				}
				h.settle()
			default:
				for _, by := range strings.Fields(order) {
					if by == "poll" {
						e.poll(p)
					} else {
						tell()
					}
				}
			}
			e.want(issue, "ann: I see that, too.")
			e.second.Add(1)
			second := e.say(e.ann, issue, "So do I.")
			h.deliver("issue_comment", "second", commentEvent("created", issue, second.CreatedAt))
			h.settle()
			e.want(issue, "ann: I see that, too.", "ann: So do I.")
			e.poll(p)
			e.want(issue, "ann: I see that, too.", "ann: So do I.")
		})
	}
}

func TestAClosedIssuesWorkIsCancelledWhenAWebhookTells(t *testing.T) {
	e := newEnv(t)
	p := e.poller()
	h := e.hook(e.watched(p))
	issue := e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.close(issue)
	h.deliver("issues", "closed", issueEvent("closed", issue))
	h.settle()
	if in, err := e.client.Get(e.ctx, Name(widgets, issue)); err != nil || in.GetClosed() == "" {
		t.Errorf("it is %q, %v", in.GetClosed(), err)
	}
}

func TestABadDeliveryBlocksNoGoodOne(t *testing.T) {
	e := newEnv(t)
	p := e.poller()
	h := e.hook(e.watched(p))
	issue := e.report(e.ann, "The sum is wrong")
	for id, body := range map[string]string{"a": "{", "b": `[]`, "c": `{"issue":null}`, "d": `{"issue":{"number":7}}`, "e": ""} {
		if status := h.answer(posted("issues", id, "s3cret", []byte(body))); status != http.StatusAccepted {
			t.Errorf("%s: %d", body, status)
		}
	}
	h.deliver("ping", "f", map[string]any{"zen": "Keep it logically awesome."})
	h.deliver("sub_issues", "g", map[string]any{"action": "added"})
	elsewhere := issueEvent("opened", 1)
	elsewhere["repository"] = map[string]any{"full_name": "acme/other"}
	h.deliver("issues", "h", elsewhere)
	h.deliver("issues", "i", issueEvent("opened", issue))
	h.deliver("issues", "j", issueEvent("opened", 99)) // there is none
	h.settle()
	if all := e.instances(); len(all) != 1 || all[0] != Name(widgets, issue) {
		t.Errorf("there are %q", all)
	}
	for _, c := range []struct {
		event, result string
		n             float64
	}{{"issues", "aside", 5}, {"ping", "unheard", 1}, {"sub_issues", "unheard", 1}, {"issues", "elsewhere", 1}, {"issues", "done", 2}} {
		if n := testutil.ToFloat64(h.handled.WithLabelValues(c.event, c.result)); n != c.n {
			t.Errorf("%s %s: %g, want %g", c.event, c.result, n, c.n)
		}
	}
}

func TestADeliveryThatCannotBeHandledNowIsHandledLater(t *testing.T) {
	e := newEnv(t)
	p := e.poller()
	h := e.hook(e.watched(p))
	issue := e.report(e.ann, "The sum is wrong")
	e.stop()
	h.deliver("issues", "a", issueEvent("opened", issue))
	consumer, err := h.deliveries.js.Consumer(e.ctx, subject.DeliveryStream, subject.DeliveryReader)
	if err != nil {
		t.Fatal(err)
	}
	round, end := context.WithCancel(e.ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.round(round, consumer) }() // no orchestrator answers
	pending := func() int {
		info, err := consumer.Info(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		return info.NumAckPending
	}
	for pending() == 0 { // until the round has taken it
		if e.ctx.Err() != nil {
			t.Fatal(context.Cause(e.ctx))
		}
	}
	end()
	<-ended
	if n := pending(); n != 1 {
		t.Fatalf("%d are to be delivered again", n)
	}
}

func TestADeliveryIsTakenOnlyWithTheSignatureOfOneOfTheSecrets(t *testing.T) {
	e := newEnv(t)
	h := e.hook(repository{})
	file := filepath.Join(t.TempDir(), "secrets")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.secrets.given, h.secrets.file = "", file
	n := 0
	want := func(secret string, status int) {
		t.Helper()
		n++
		if got := h.answer(posted("ping", fmt.Sprint("id-", n), secret, []byte("{}"))); got != status {
			t.Errorf("signed with %q: %d, want %d", secret, got, status)
		}
	}
	write("old\n")
	want("old", http.StatusAccepted)
	want("new", http.StatusUnauthorized)
	want("", http.StatusUnauthorized)
	write("new\nold\n")
	want("old", http.StatusAccepted)
	want("new", http.StatusAccepted)
	write("new\n")
	want("old", http.StatusUnauthorized)
	want("new", http.StatusAccepted)
	write("\n") // a person empties it: the last good ones stay
	want("new", http.StatusAccepted)
	want("", http.StatusUnauthorized)
}

func TestADeliveryOfAnotherFormIsRefused(t *testing.T) {
	h := newEnv(t).hook(repository{})
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		body   string
		want   int
	}{
		{"a page that is read", func(r *http.Request) { r.Method = http.MethodGet }, "{}", http.StatusMethodNotAllowed},
		{"a form", func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, "payload={}", http.StatusUnsupportedMediaType},
		{"JSON with its charset", func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=utf-8") }, "{}", http.StatusAccepted},
		{"no event", func(r *http.Request) { r.Header.Del("X-GitHub-Event") }, "{}", http.StatusBadRequest},
		{"no id", func(r *http.Request) { r.Header.Del("X-GitHub-Delivery") }, "{}", http.StatusBadRequest},
		{"an event that is a subject", func(r *http.Request) { r.Header.Set("X-GitHub-Event", "a.>") }, "{}", http.StatusBadRequest},
		{"no signature", func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }, "{}", http.StatusUnauthorized},
		{"a signature of SHA-1", func(r *http.Request) {
			r.Header.Set("X-Hub-Signature", "sha1=00")
			r.Header.Del("X-Hub-Signature-256")
		}, "{}", http.StatusUnauthorized},
		{"half a signature", func(r *http.Request) {
			r.Header.Set("X-Hub-Signature-256", r.Header.Get("X-Hub-Signature-256")[:20])
		}, "{}", http.StatusUnauthorized},
		{"too large a body", func(*http.Request) {}, strings.Repeat(" ", maxDelivery+1), http.StatusRequestEntityTooLarge},
		{"a large body", func(*http.Request) {}, `{"a":"` + strings.Repeat("x", maxKept-8) + `"}`, http.StatusAccepted},
		{"a push of 20 MB", func(*http.Request) {}, `{"ref":"refs/heads/main","repository":{"full_name":"acme/widgets"},"commits":["` + strings.Repeat("x", 20<<20) + `"]}`, http.StatusAccepted},
		{"20 MB that name no repository", func(*http.Request) {}, `{"commits":["` + strings.Repeat("x", 20<<20) + `"]}`, http.StatusRequestEntityTooLarge},
	} {
		r := posted("push", strings.ReplaceAll(c.name, " ", "-"), "s3cret", []byte(c.body))
		c.change(r)
		if got := h.answer(r); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestOfALargeDeliveryTheWholeMembersAreKept(t *testing.T) {
	for start, want := range map[string]string{
		`{"ref":"a","repository":{"full_name":"o/r"},"commits":[{"id":`: `{"ref":"a","repository":{"full_name":"o/r"}}`,
		`{"repository":{"full_name":"o/r"},"com`:                        `{"repository":{"full_name":"o/r"}}`,
		`{"commits":[{"id":`:                                            "",
		`["repository"`:                                                 "",
		`{"repository":{"full_na`:                                       "",
		`{"repository":nonsense}}}`:                                     "",
	} {
		got, ok := outline([]byte(start))
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("of %s it keeps %s, %v", start, got, ok)
		}
	}
}

func TestADeliveryIsTakenOnlyWhenItIsKept(t *testing.T) {
	h := newEnv(t).hook(repository{})
	h.stop()
	h.server.Stop()
	began := time.Now()
	if status := h.answer(posted("ping", "a", "s3cret", []byte("{}"))); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestAWebhookWithoutASecretOrTLSIsRefusedAtTheStart(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags Webhook
		want  string
	}{
		{Webhook{Addr: "127.0.0.1:0"}, "only with a secret"},
		{Webhook{Addr: "127.0.0.1:0", SecretFile: empty}, "is empty"},
		{Webhook{Addr: "127.0.0.1:0", Secret: " "}, "only with a secret"},
		{Webhook{Addr: "0.0.0.0:0", Secret: "s3cret"}, "without TLS"},
		{Webhook{Addr: "127.0.0.1:0", Secret: "s3cret", Cert: empty}, "belong together"},
	} {
		_, _, err := c.flags.listenWebhook(&service.Host{Log: slog.New(slog.DiscardHandler)}, nil, nil)
		if usage := (*service.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.flags, err, c.want)
		}
	}
}

func TestAnOperatorHasADeliveryHandledAgain(t *testing.T) {
	e := newEnv(t)
	p := e.poller()
	h := e.hook(e.watched(p))
	issue := e.report(e.ann, "The sum is wrong")
	h.deliver("issues", "a", issueEvent("opened", issue)) // and is not handled
	again, err := h.again(e.ctx, "a")
	if err != nil || again.Result != "done" || again.Action != "opened" || len(e.instances()) != 1 {
		t.Errorf("%+v, %v, %q", again, err, e.instances())
	}
	for _, id := range []string{"b", "a.b", "", "*"} {
		if _, err := h.again(e.ctx, id); err == nil {
			t.Errorf("%q is handled", id)
		}
	}
}
