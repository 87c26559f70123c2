package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/console/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// asking is a lifecycle that begins with a wait for people.
const asking = `workflow: asking
version: 1
initial: waiting
policy: {quick: false}
states:
  waiting:
    about: People say which.
    timeout: 24h
    next: [building, done]
    on:
      commented: [{when: policy.quick, to: done}, {to: building}]
      approved: building
  building:
    about: It is built.
    owner: developer
    next: [building, done]
    decide:
      - {when: result.status == 'success', to: done}
      - {to: building}
  done: {final: true}
`

// env is a log, an orchestrator and a console.
type env struct {
	testing.TB
	ctx     context.Context
	console *app.Console
	client  *client.Client // of an operator
	browser *http.Client   // signed in
}

func lifecycles(t testing.TB) orchestratortest.Settings {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "asking.yaml"), []byte(asking), 0o644); err != nil {
		t.Fatal(err)
	}
	return orchestratortest.Settings{AckWait: time.Minute, WorkflowDir: dir}
}

func newEnv(t testing.TB) *env {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, lifecycles(t))
	e := serve(t, service.NATS{URL: server.URL})
	e.client = client.New(server.Connect(t), "operator:bob")
	return e
}

// serveOnly runs a console until the test ends.
func serveOnly(t testing.TB, at service.NATS) *env {
	t.Helper()
	return serveWith(t, at, app.Settings{}, slog.New(slog.DiscardHandler))
}

// serveWith is serveOnly with settings and a log.
func serveWith(t testing.TB, at service.NATS, settings app.Settings, log *slog.Logger) *env {
	t.Helper()
	settings.Listen = "127.0.0.1:0"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	e := &env{TB: t, ctx: ctx}
	running, stop := context.WithCancel(context.Background())
	ready, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		ended <- service.Serve(running, service.Config{Service: "console", Log: log, Flags: service.Flags{NATS: at, Grace: 10 * time.Second},
			Setup: func(ctx context.Context, h *service.Host) (err error) {
				e.console, err = settings.Setup(ctx, h, "operator:ann")
				ready <- err
				return err
			}})
	}()
	if err := <-ready; err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the console ended with %v", err)
		}
	})
	e.browse()
	return e
}

// browse goes on with a new browser.
func (e *env) browse() {
	e.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		e.Fatal(err)
	}
	e.browser = &http.Client{Jar: jar}
}

// serve is serveOnly, and signs a browser in.
func serve(t testing.TB, at service.NATS) *env {
	t.Helper()
	e := serveOnly(t, at)
	if status, page := e.get(e.console.SignInLink()); status != http.StatusOK || strings.Contains(page, "<script") { // which would read the page again
		t.Fatalf("signing in ends with %d %s", status, page)
	}
	return e
}

// do sends a request with the browser.
func (e *env) do(method, to string, form url.Values, header ...string) (status int, page string) {
	e.Helper()
	if !strings.HasPrefix(to, "http") {
		to = strings.TrimSuffix(e.console.URL, "/") + to
	}
	r, err := http.NewRequestWithContext(e.ctx, method, to, strings.NewReader(form.Encode()))
	if err != nil {
		e.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := e.browser.Do(r)
	if err != nil {
		e.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		e.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func (e *env) get(to string) (int, string) { e.Helper(); return e.do(http.MethodGet, to, nil) }

// open opens an instance of asking.
func (e *env) open(id string) {
	e.Helper()
	if _, err := e.client.OpenWith(e.ctx, "", id, &pb.Open{Workflow: "asking", Base: "c0", Issue: wire.Issue(instance.Issue{Title: "Title of " + id})}); err != nil {
		e.Fatal(err)
	}
}

// state returns the state of an instance.
func (e *env) state(id string) string {
	e.Helper()
	in, err := e.client.Get(e.ctx, id)
	if err != nil {
		e.Fatal(err)
	}
	return in.GetState()
}

// stream opens the stream of a page; next returns the data of its next event.
func (e *env) stream(query string) (next func() string) {
	e.Helper()
	r, err := http.NewRequestWithContext(e.ctx, http.MethodGet, e.console.URL+"events?"+query, nil)
	if err != nil {
		e.Fatal(err)
	}
	resp, err := e.browser.Do(r)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		e.Fatalf("the stream ends with %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	return func() string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return data
			}
		}
		e.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
}

// until reads a page each time that the stream says that it changed, until it has the text.
func (e *env) until(page, query, text string) string {
	e.Helper()
	next := e.stream(query)
	for {
		if _, got := e.get(page); strings.Contains(got, text) {
			return got
		}
		next()
	}
}

func TestAPageIsShownToTheOneWhoSignedInAlone(t *testing.T) {
	e := newEnv(t)
	e.open("acme/widgets/1")
	e.until("/", "seq=0", "Title of acme/widgets/1")
	stranger := *e
	stranger.browser = &http.Client{}
	for _, path := range []string{"/", "/inbox", "/i/acme/widgets/1", "/events", "/nothing"} {
		if status, page := stranger.get(path); status != http.StatusUnauthorized || strings.Contains(page, "Title of") {
			t.Errorf("%s ends with %d %s", path, status, page)
		}
	}
	if status, _ := stranger.do(http.MethodPost, "/act/acme/widgets/1", url.Values{"do": {"pause"}}); status != http.StatusUnauthorized {
		t.Errorf("an action ends with %d", status)
	}
	link := e.console.SignInLink()
	for i, want := range []int{http.StatusOK, http.StatusForbidden} {
		if status, page := stranger.get(link); status != want {
			t.Errorf("use %d of a link ends with %d %s", i+1, status, page)
		}
	}
	if status, _ := e.do(http.MethodPost, "/signout", url.Values{}); status != http.StatusOK {
		t.Errorf("signing out ends with %d", status)
	}
	if status, _ := e.get("/"); status != http.StatusUnauthorized {
		t.Errorf("after signing out the board ends with %d", status)
	}
}

func TestAnAnswerInTheBrowserMovesTheInstance(t *testing.T) {
	e := newEnv(t)
	e.open("acme/widgets/1")
	page := e.until("/inbox", "seq=0", "Title of acme/widgets/1")
	for _, want := range []string{"1 instance waits for people", `action="/act/acme/widgets/1"`, "Approve", "(1) Inbox"} {
		if !strings.Contains(page, want) {
			t.Errorf("the inbox lacks %q:\n%s", want, page)
		}
	}
	form := url.Values{"do": {"answer"}, "state": {"waiting"}, "moves": {"0"}, "back": {"/inbox"}}
	if status, page := e.do(http.MethodPost, "/act/acme/widgets/1", form); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The answer is empty.") {
		t.Errorf("an empty answer ends with %d:\n%s", status, page)
	}
	form.Set("text", "Version 2 only")
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example.test"}} {
		if status, _ := e.do(http.MethodPost, "/act/acme/widgets/1", form, header...); status != http.StatusForbidden || e.state("acme/widgets/1") != "waiting" {
			t.Errorf("a form of another site, %v, ends with %d in %s", header, status, e.state("acme/widgets/1"))
		}
	}
	status, page := e.do(http.MethodPost, "/act/acme/widgets/1", form)
	if status != http.StatusOK || !strings.Contains(page, "answered, now in building") || !strings.Contains(page, "Nothing waits for you") {
		t.Errorf("the answer ends with %d:\n%s", status, page)
	}
	in, err := e.client.Get(e.ctx, "acme/widgets/1")
	if err != nil || in.GetState() != "building" {
		t.Errorf("it is in %s, %v", in.GetState(), err)
	}
	status, page = e.do(http.MethodPost, "/act/acme/widgets/1", form)
	if status != http.StatusConflict || !strings.Contains(page, "it is in building now, and was in waiting") {
		t.Errorf("the same answer again ends with %d:\n%s", status, page)
	}
	_, page = e.get("/i/acme/widgets/1")
	for _, want := range []string{"Version 2 only", "operator:ann", "waiting → building"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the instance lacks %q:\n%s", want, page)
		}
	}
}

func TestEachActionIsCarriedOutAndRefusalsAreShown(t *testing.T) {
	e := newEnv(t)
	e.open("acme/widgets/1")
	const at = "/act/acme/widgets/1"
	for i, c := range []struct {
		form   string
		status int
		says   string
	}{
		{"do=pause&reason=release+week", http.StatusOK, "paused in waiting"},
		{"do=pause", http.StatusConflict, "Refused: "},
		{"do=resume", http.StatusOK, "goes on in waiting"},
		{"do=resume", http.StatusConflict, "Refused: "},
		{"do=approve&state=building&moves=1", http.StatusConflict, "it is in waiting now, and was in building"},
		{"do=approve", http.StatusOK, "approved, now in building"},
		{"do=retry", http.StatusOK, "its work is given out once more, in building"},
		{"do=dance", http.StatusUnprocessableEntity, "The form asks for no action."},
		{"do=override&to=done", http.StatusUnprocessableEntity, "To override it, choose a state and say why."},
		{"do=override&to=nowhere&reason=try", http.StatusConflict, "Refused: "},
		{"do=override&to=waiting&reason=asked+too+little", http.StatusOK, "moved by override, now in waiting"},
		{"do=override&to=building&reason=it+is+clear", http.StatusOK, "moved by override, now in building"},
		{"do=budget&amount=much", http.StatusUnprocessableEntity, "The budget is not raised: "},
		{"do=budget&amount=%2B5usd", http.StatusOK, "may cost more, in building"},
		{"do=cancel&reason=+", http.StatusUnprocessableEntity, "To cancel it, say why."},
		{"do=cancel&reason=duplicate", http.StatusOK, "cancelled in building"},
		{"do=retry&reason=keep+me", http.StatusConflict, "Refused: "},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		if status, page := e.do(http.MethodPost, at, form); status != c.status || !strings.Contains(page, c.says) {
			t.Errorf("%d, %s: it ends with %d, want %d and %q:\n%s", i, c.form, status, c.status, c.says, page)
		}
	}
	in, err := e.client.Get(e.ctx, "acme/widgets/1")
	if err != nil {
		t.Fatal(err)
	}
	if status, page := e.get(fmt.Sprintf("/e/%d", in.GetSeq())); status != http.StatusOK || !strings.Contains(page, fmt.Sprintf(`id="e%d"`, in.GetSeq())) {
		t.Errorf("the link to an event ends with %d:\n%s", status, page)
	}
	for _, path := range []string{"/e/0", "/e/999999", "/e/x", "/diff/acme/widgets/1"} {
		if status, _ := e.get(path); status != http.StatusNotFound {
			t.Errorf("%s ends with %d", path, status)
		}
	}
	if status, page := e.get("/lifecycles/asking"); status != http.StatusOK || !strings.Contains(page, `id="state-building"`) || !strings.Contains(page, "0 open instances, 1 closed") {
		t.Errorf("the lifecycle ends with %d:\n%s", status, page)
	}
	if status, page := e.get("/i/acme/widgets/9"); status != http.StatusNotFound || !strings.Contains(page, "There is no instance acme/widgets/9.") {
		t.Errorf("an unknown instance ends with %d:\n%s", status, page)
	}
	if status, _ := e.get("/nothing"); status != http.StatusNotFound {
		t.Errorf("an unknown page ends with %d", status)
	}
}

func TestAChangeReachesOpenPagesByTheStream(t *testing.T) {
	e := newEnv(t)
	e.open("acme/widgets/1")
	e.until("/i/acme/widgets/1", "seq=0&i=acme/widgets/1", "waiting")
	in, err := e.client.Get(e.ctx, "acme/widgets/1")
	if err != nil {
		t.Fatal(err)
	}
	next := e.stream(fmt.Sprintf("i=acme/widgets/1&seq=%d", in.GetSeq()))
	e.open("acme/widgets/2") // another page's
	reply, err := e.client.Pause(e.ctx, "acme/widgets/1", "lunch")
	if err != nil {
		t.Fatal(err)
	}
	got := next()
	for got == fmt.Sprint(in.GetSeq()) { // all pages are read again when the console has loaded the closed instances
		got = next()
	}
	if want := fmt.Sprint(reply.GetInstance().GetSeq()); got != want {
		t.Errorf("the stream sends %s, want %s", got, want)
	}
	if _, page := e.get("/i/acme/widgets/1"); !strings.Contains(page, "It is paused: lunch.") {
		t.Errorf("the page says\n%s", page)
	}
}

func TestAnAccountThatReadsSeesTheFormsOffAndIsRefused(t *testing.T) {
	vera, developer := access.Party{Kind: access.View, Name: "vera"}, access.Party{Kind: access.Agent, Name: "developer"}
	server := accesstest.Start(t, append(access.Services("developer"), vera)...)
	orchestratortest.StartOn(t, service.NATS{URL: server.URL, NKey: server.Key(t, access.Party{Kind: access.Orchestrator})}, 1, lifecycles(t), slog.New(slog.DiscardHandler))
	e := serve(t, service.NATS{URL: server.URL, NKey: server.Key(t, vera)})
	e.client = client.New(server.As(t, access.Party{Kind: access.Orchestrator}), "operator:bob")
	e.open("acme/widgets/1")
	page := e.until("/i/acme/widgets/1", "seq=0", "Title of acme/widgets/1")
	for _, want := range []string{"vera, may read", "This account may read and not act", `class="main" disabled>Send the answer`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	status, page := e.do(http.MethodPost, "/act/acme/widgets/1", url.Values{"do": {"pause"}})
	if status != http.StatusConflict || !strings.Contains(page, "view-vera may not pause") || !strings.Contains(page, "Permitted: gateway, act, admin") {
		t.Errorf("pausing ends with %d:\n%s", status, page)
	}
	err := service.Serve(e.ctx, service.Config{Service: "console", Log: slog.New(slog.DiscardHandler), Flags: service.Flags{NATS: service.NATS{URL: server.URL, NKey: server.Key(t, developer)}},
		Setup: func(ctx context.Context, h *service.Host) error {
			_, err := app.Settings{Listen: "127.0.0.1:0"}.Setup(ctx, h, "operator:ann")
			return err
		}})
	if service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), "this is the key of agent-developer") {
		t.Errorf("with the key of an agent it ends with %v", err)
	}
}

// link asks for a link as a party does.
func askLink(t *testing.T, nc *nats.Conn) (reply app.Login, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, "sb.console.login", nil)
	if err == nil {
		err = json.Unmarshal(m.Data, &reply)
	}
	return reply, err
}

func TestTheConsoleOfOneSystemGivesLinksToThoseWithItsOwnRights(t *testing.T) {
	system, ann := access.Party{Kind: access.Orchestrator}, access.Party{Kind: access.Act, Name: "ann"}
	server := accesstest.Start(t, append(access.Services("developer"), ann)...)
	orchestratortest.StartOn(t, service.NATS{URL: server.URL, NKey: server.Key(t, system)}, 1, lifecycles(t), slog.New(slog.DiscardHandler))
	e := serveOnly(t, service.NATS{URL: server.URL, NKey: server.Key(t, system)})
	if reply, err := askLink(t, server.As(t, ann)); err == nil {
		t.Errorf("another person gets %+v", reply)
	}
	reply, err := askLink(t, server.As(t, system))
	if err != nil || reply.Link == "" {
		t.Fatalf("who holds the key of the system gets %+v, %v", reply, err)
	}
	if status, page := e.get(reply.Link); status != http.StatusOK || !strings.Contains(page, "<b>ann</b>") { // of --user
		t.Errorf("the link signs in with %d:\n%s", status, page)
	}
	e.until("/", "seq=0", "ann, may administer")
}

func TestEachPersonSignsInWithTheirKeyAndActsAsThemselves(t *testing.T) {
	system, developer := access.Party{Kind: access.Orchestrator}, access.Party{Kind: access.Agent, Name: "developer"}
	vera, ann, ada := access.Party{Kind: access.View, Name: "vera"}, access.Party{Kind: access.Act, Name: "ann"}, access.Party{Kind: access.Admin, Name: "ada"}
	server := accesstest.Start(t, append(access.Services("developer"), vera, ann, ada)...)
	orchestratortest.StartOn(t, service.NATS{URL: server.URL, NKey: server.Key(t, system)}, 1, lifecycles(t), slog.New(slog.DiscardHandler))
	e := serveOnly(t, service.NATS{URL: server.URL, NKey: server.Key(t, access.Party{Kind: access.Console})})
	e.client = client.New(server.As(t, system), "operator:bob")
	e.open("acme/widgets/1")
	if link := e.console.SignInLink(); link != "" {
		t.Errorf("the console itself signs in by %s", link)
	}
	for _, p := range []access.Party{developer, {Kind: access.Gateway}, system} {
		if reply, err := askLink(t, server.As(t, p)); err == nil {
			t.Errorf("%s gets %+v", p, reply)
		}
	}
	browsers := map[access.Party]*http.Client{}
	for _, p := range []access.Party{vera, ann, ada} {
		reply, err := askLink(t, server.As(t, p))
		if err != nil || reply.Link == "" {
			t.Fatalf("%s gets %+v, %v", p, reply, err)
		}
		e.browse()
		if status, page := e.get(reply.Link); status != http.StatusOK || !strings.Contains(page, "<b>"+p.Name+"</b>") {
			t.Fatalf("%s signs in with %d:\n%s", p, status, page)
		}
		if status, _ := e.get(reply.Link); status != http.StatusForbidden {
			t.Errorf("the link of %s signs in again", p)
		}
		browsers[p] = e.browser
	}
	at := e.until("/i/acme/widgets/1", "seq=0", "Title of acme/widgets/1")
	if !strings.Contains(at, "ada, may administer") {
		t.Errorf("the page of ada says\n%s", at)
	}
	for _, step := range []struct {
		as     access.Party
		form   url.Values
		status int
		says   string
	}{
		{vera, url.Values{"do": {"pause"}}, http.StatusConflict, "view-vera may not pause"},
		{ann, url.Values{"do": {"override"}, "to": {"building"}, "reason": {"r"}}, http.StatusConflict, "act-ann may not override"},
		{ann, url.Values{"do": {"approve"}}, http.StatusOK, "approved, now in building"},
		{ada, url.Values{"do": {"override"}, "to": {"waiting"}, "reason": {"r"}, "actor": {"operator:mallory"}, "right": {"admin"}}, http.StatusOK, "moved by override"},
	} {
		e.browser = browsers[step.as]
		if status, page := e.do(http.MethodPost, "/act/acme/widgets/1", step.form); status != step.status || !strings.Contains(page, step.says) {
			t.Errorf("%s sends %v and gets %d, want %d and %q:\n%s", step.as, step.form, status, step.status, step.says, page)
		}
	}
	records, err := e.client.History(e.ctx, "acme/widgets/1", 0)
	if err != nil {
		t.Fatal(err)
	}
	var actors []string
	for _, r := range records {
		actors = append(actors, r.GetCommit().GetActor())
	}
	if got := strings.Join(actors, " "); got != "operator:bob operator:ann operator:ada" {
		t.Errorf("the log names %s", got)
	}
	err = service.Serve(e.ctx, service.Config{Service: "console", Log: slog.New(slog.DiscardHandler), Flags: service.Flags{NATS: service.NATS{URL: server.URL, NKey: server.Key(t, access.Party{Kind: access.Console})}},
		Setup: func(ctx context.Context, h *service.Host) error {
			_, err := app.Settings{Listen: "127.0.0.1:0", LinkFile: filepath.Join(t.TempDir(), "link")}.Setup(ctx, h, "operator:ann")
			return err
		}})
	if service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), "--link-file") {
		t.Errorf("with a file for links it ends with %v", err)
	}
}

func TestAPersonWhoseKeyIsRevokedIsSignedOutAndNobodyElse(t *testing.T) {
	system, ann, ada := access.Party{Kind: access.Orchestrator}, access.Party{Kind: access.Act, Name: "ann"}, access.Party{Kind: access.Admin, Name: "ada"}
	server := accesstest.StartReloadable(t, nil, append(access.Services("developer"), ann, ada)...)
	orchestratortest.StartOn(t, service.NATS{URL: server.ClientURL(), NKey: server.Keys.Seed(system)}, 1, lifecycles(t), slog.New(slog.DiscardHandler))
	e := serveOnly(t, service.NATS{URL: server.ClientURL(), NKey: server.Keys.Seed(access.Party{Kind: access.Console})})
	signIn := func(p access.Party) (browser *http.Client, unused string) {
		e.browse()
		for _, to := range []*string{new(string), &unused} {
			reply, err := askLink(t, server.As(t, p))
			if err != nil || reply.Link == "" {
				t.Fatalf("%s gets %+v, %v", p, reply, err)
			}
			*to = reply.Link
			if to != &unused {
				e.get(reply.Link)
			}
		}
		return e.browser, unused
	}
	hers, link := signIn(ann)
	signIn(ada)
	open, err := hers.Get(e.console.URL + "events?seq=0&i=")
	if err != nil || open.StatusCode != http.StatusOK {
		t.Fatalf("the stream of ann: %v, %v", open, err)
	}
	defer open.Body.Close()
	if err := errors.Join(server.Keys.Revoke(ann), server.Reload()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, open.Body); err != nil { // it ends with the session
		t.Error(err)
	}
	if status, _ := e.get("/"); status != http.StatusOK {
		t.Errorf("ada gets the status %d", status)
	}
	e.browser = hers
	if status, page := e.get("/"); status != http.StatusUnauthorized {
		t.Errorf("ann gets %d:\n%s", status, page)
	}
	if status, page := e.get(link); status != http.StatusForbidden {
		t.Errorf("an earlier link of ann signs in with %d:\n%s", status, page)
	}
}

func TestAPortBeyondThisMachineNeedsTLS(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	err := service.Serve(t.Context(), service.Config{Service: "console", Log: slog.New(slog.DiscardHandler), Flags: service.Flags{NATS: service.NATS{URL: server.URL}},
		Setup: func(ctx context.Context, h *service.Host) error {
			_, err := app.Settings{Listen: "0.0.0.0:0"}.Setup(ctx, h, "operator:ann")
			return err
		}})
	if service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), "--listen-cert") {
		t.Errorf("it ends with %v", err)
	}
}

// BenchmarkPages reports the bytes of each page, and how long the browser waits for one, of a
// system with 1,000 open instances.
func BenchmarkPages(b *testing.B) {
	e := newEnv(b)
	const many = 1000
	for i := range many {
		e.open(fmt.Sprintf("acme/widgets/%d", i))
	}
	e.until("/", "seq=0", fmt.Sprintf("of %d open", many))
	for name, path := range map[string]string{"board": "/", "filtered": "/?q=widgets/99&waiting=1", "page20": "/?page=20", "inbox": "/inbox", "instance": "/i/acme/widgets/7"} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				status, page := e.get(path)
				if size = len(page); status != http.StatusOK {
					b.Fatalf("it ends with %d", status)
				}
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
