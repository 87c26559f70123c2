package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/testkit/browsertest"
	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// harmful is what a stranger may write.
const harmful = "\x1b]1338;url=http://evil.example.test/a.png\a\x1b[31m\u202e<script>window.ran = 1; alert(1)</script><img src=http://evil.example.test/x onerror=\"window.ran = 1\">" +
	"![t](http://evil.example.test/t.png) [l](javascript:window.ran=1) \"'></textarea><style>*{display:none}</style><svg onload=\"window.ran = 1\">"

// One browser goes through all: starting it is what costs.
func TestPeopleWorkWithTheConsoleInABrowser(t *testing.T) {
	e := newEnv(t)
	proxy := faultproxy.Start(t, strings.Trim(strings.TrimPrefix(e.console.URL, "http:"), "/"))
	b := browsertest.Open(t, "http://"+proxy.Addr())
	const live = "document.getElementById('stream')?.classList.contains('live')"

	_, code, _ := strings.Cut(e.console.SignInLink(), "/signin")
	b.Go("/signin" + code)
	b.Wait("document.querySelector('h1')?.innerText === 'Board' && " + live)
	b.Go("/signin" + code)
	b.Shows("This link has been used")

	b.Go("/")
	b.Wait(live)
	b.Run("window.same = true")
	opened := time.Now()
	e.open("acme/widgets/1")
	b.Shows("Title of acme/widgets/1")
	t.Logf("a new instance is on the board after %s", time.Since(opened).Round(time.Millisecond))
	if !browsertest.Read[bool](b, "window.same === true") {
		t.Error("the board was loaded again")
	}

	b.Go("/inbox")
	b.Run(`document.getElementById('acme/widgets/1-text').value = 'Version 2 only'; document.querySelector('button[value=answer]').click()`)
	b.Shows("answered, now in building")
	if at := e.state("acme/widgets/1"); at != "building" {
		t.Errorf("it is in %s", at)
	}

	b.Go("/i/acme/widgets/1")
	const override = `document.querySelector('button[value=override]').click()`
	b.Run(override)
	b.Shows("To override it, choose a state and say why.")
	b.Run(`document.getElementById('acme/widgets/1-to').value = 'waiting'; document.getElementById('acme/widgets/1-why').value = 'asked too little'; ` + override)
	b.Shows("moved by override, now in waiting")

	// It was in building before the override. The slider shows that and leaves the page, with its address.
	b.Run("window.same = true; const s = document.getElementById('seq'); s.value = s.max - 1; s.dispatchEvent(new Event('input'))")
	b.Wait("location.search.startsWith('?seq=') && document.querySelector('#now dd code').innerText === 'building'")
	b.Shows("This is the past")
	b.Shows("Decision of commit")
	b.Run("const s = document.getElementById('seq'); s.value = s.max; s.dispatchEvent(new Event('input'))")
	b.Wait("location.search === '' && document.querySelector('#now dd code').innerText === 'waiting' && !document.getElementById('decision') && window.same === true")

	b.Go("/whatif?policy=tries%3D9")
	b.Shows("none has the policy tries")
	b.Go("/whatif?lifecycle=asking")
	b.Shows("1 of 1 go where they went")
	b.Go("/whatif?policy=quick%3Dtrue")
	b.Shows("1 elsewhere: 1 to their end in done")
	b.Run("document.querySelector('td a').click()")
	b.Wait("location.search.startsWith('?seq=') && document.querySelector('#now dd code').innerText === 'building'")

	e.watchOutput(b)

	// Another person answers first: the form that is filled in stays, and is refused with its text.
	e.open("acme/widgets/4")
	b.Go("/i/acme/widgets/4")
	b.Wait(live)
	b.Run("document.getElementById('acme/widgets/4-text').value = 'Version 3, I think'")
	if _, err := e.client.Answer(e.ctx, "acme/widgets/4", 0, "Version 2"); err != nil {
		t.Fatal(err)
	}
	b.Wait("document.querySelector('#now dd code').innerText === 'building'")
	b.Run("document.querySelector('button[value=answer]').click()")
	b.Shows("Nothing was sent: it has moved on since you read: it is in building now, and was in waiting")

	b.Go("/")
	b.Wait(live)
	proxy.Set(faultproxy.Cut())
	proxy.Reset()
	b.Shows("not connected")
	if _, err := e.client.Pause(e.ctx, "acme/widgets/1", "release week"); err != nil {
		t.Fatal(err)
	}
	proxy.Heal()
	proxy.Reset()
	b.Shows("It is paused: release week.")
	b.Wait(live)

	long := strings.Repeat("long ", 60_000)
	title := func(size int) *pb.Open {
		return &pb.Open{Workflow: "asking", Base: "c0", Issue: wire.Issue(instance.Issue{Title: strings.Repeat(harmful, size/len(harmful))})}
	}
	if _, err := e.client.OpenWith(e.ctx, "", "acme/widgets/5", title(1<<20)); err == nil || !strings.Contains(err.Error(), "a request has at most") {
		t.Errorf("a title of a megabyte: %v", err)
	}
	if _, err := e.client.OpenWith(e.ctx, "", "acme/widgets/5", title(700_000)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.client.OpenWith(e.ctx, "", "acme/widgets/2", &pb.Open{Workflow: "asking", Base: "c0",
		Issue: wire.Issue(instance.Issue{Title: harmful, Body: harmful + long, Author: harmful, Labels: []string{harmful}})}); err != nil {
		t.Fatal(err)
	}
	b.Shows("acme/widgets/2")
	for _, path := range []string{"/", "/inbox", "/i/acme/widgets/2", "/lifecycles/asking", "/agents", "/costs", "/health", "/i/acme/widgets/2?seq=1", "/i/acme/widgets/5"} {
		b.Go(path)
		b.Wait(live)
		if browsertest.Read[bool](b, "window.ran !== undefined || document.images.length > 0 || getComputedStyle(document.body).display === 'none'") {
			t.Errorf("%s runs, loads or hides what a stranger wrote", path)
		}
		if size := browsertest.Read[int](b, "document.documentElement.outerHTML.length"); size > 100<<10 {
			t.Errorf("%s has %d characters", path, size)
		}
	}
	// A session that ended elsewhere: the open page asks to sign in by itself.
	b.Go("/")
	b.Wait(live)
	b.Run("fetch('/signout', {method: 'POST'})")
	b.Wait("document.querySelector('h1')?.innerText === 'Sign in' && !document.body.innerText.includes('acme/widgets')")

	if wrong := b.Wrong(); len(wrong) > 0 {
		t.Errorf("the pages did %q", wrong)
	}
}

func TestTenThousandInstancesAreNoSlowPageInABrowser(t *testing.T) {
	e := newEnv(t)
	b := browsertest.Open(t, strings.TrimSuffix(e.console.URL, "/"))
	const many = 10_000
	opening, ctx := errgroup.WithContext(e.ctx)
	opening.SetLimit(64)
	for i := range many {
		opening.Go(func() error {
			_, err := e.client.OpenWith(ctx, "", fmt.Sprintf("acme/widgets/%d", i), &pb.Open{Workflow: "asking", Base: "c0", Issue: wire.Issue(instance.Issue{Title: fmt.Sprintf("Widget %d", i)})})
			return err
		})
	}
	if err := opening.Wait(); err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(e.console.SignInLink(), "/signin")
	b.Go("/signin" + code)
	b.Shows("of 10000 open")
	for path, shows := range map[string]string{"/": "1 to ", "/?q=Widget+9999": "acme/widgets/9999", "/?waiting=1": "of 10000 open", "/?page=9999": "to 10000 of 10000 open", "/inbox": "10000 instances wait for people", "/lifecycles/asking": "10000 open instances", "/i/acme/widgets/77": "Widget 77"} {
		b.Go(path)
		b.Shows(shows)
		first := browsertest.Read[float64](b, "(n => n.responseStart - n.requestStart)(performance.getEntriesByType('navigation')[0])")
		size := browsertest.Read[int](b, "document.documentElement.outerHTML.length")
		t.Logf("%-20s %4.0f ms to the first byte, %d characters", path, first, size)
		if size > 100<<10 {
			t.Errorf("%s has %d characters", path, size)
		}
	}
	b.Go("/?q=Title")
	b.Wait("document.getElementById('stream')?.classList.contains('live')")
	opened := time.Now()
	e.open("acme/gadgets/1")
	b.Shows("Title of acme/gadgets/1")
	t.Logf("a new instance is on the board after %s", time.Since(opened).Round(time.Millisecond))
	if wrong := b.Wrong(); len(wrong) > 0 {
		t.Errorf("the pages did %q", wrong)
	}
}

// watchOutput has an agent take work and print, and holds that the open page of the instance shows it, hostile parts as text.
func (e *env) watchOutput(b *browsertest.Browser) {
	e.Helper()
	e.open("acme/widgets/3")
	if _, err := e.client.Answer(e.ctx, "acme/widgets/3", 0, "Version 2"); err != nil {
		e.Fatal(err)
	}
	b.Go("/i/acme/widgets/3")
	b.Wait("document.getElementById('stream')?.classList.contains('live')")
	b.Run("window.same = true")
	in, err := e.client.Get(e.ctx, "acme/widgets/3")
	if err != nil {
		e.Fatal(err)
	}
	claimed, err := e.client.DoAs(e.ctx, "developer", subject.Claim, &pb.Command{Instance: "acme/widgets/3", Actor: "developer-1",
		Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "developer-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err != nil {
		e.Fatal(err)
	}
	output := make(chan client.Output, 1)
	output <- client.Output{Version: 1, Text: "I look at sum.go"}
	var now client.Output
	stop, err := e.client.ServeLive("developer", uint64(claimed.GetToken()), "acme/widgets/3", func(uint64) client.Output {
		select {
		case now = <-output:
		default:
		}
		return now
	})
	if err != nil {
		e.Fatal(err)
	}
	defer stop()
	const text = "document.getElementById('live-text')?.textContent"
	b.Wait(text + " === 'I look at sum.go'")
	output <- client.Output{Version: 2, Text: "I look at sum.go\n" + harmful, Lost: 70_000}
	b.Wait(text + ".includes('<script>') && !document.getElementById('live-cut').hidden")
	if !browsertest.Read[bool](b, "window.same === true && window.ran === undefined && document.querySelectorAll('#live img, #live script').length === 0") {
		e.Error("the page was loaded again, or ran what an agent printed")
	}
	if _, err := e.client.Pause(e.ctx, "acme/widgets/3", "enough"); err != nil { // ends the claim
		e.Fatal(err)
	}
	b.Wait("!document.getElementById('live')")
}
