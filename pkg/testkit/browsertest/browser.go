// Package browsertest tries pages in a real browser, Chromium without a window.
package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a condition may take.
const patience = 20 * time.Second

// Browser is one tab of a browser that runs until the test ends.
type Browser struct {
	testing.TB
	ctx  context.Context
	site string // all requests go there

	mu    sync.Mutex
	wrong []string
}

// Open starts a browser for pages of a site, such as http://127.0.0.1:4280. It skips the test where no browser is installed.
func Open(t testing.TB, site string) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		t.Skip("no Chromium here: the pages are not tried in a browser")
	}
	allocated, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.NoSandbox, // it shows pages of this test alone, and tests may run as root
		chromedp.DisableGPU)...)
	t.Cleanup(end)
	ctx, closeTab := chromedp.NewContext(allocated)
	t.Cleanup(closeTab)
	b := &Browser{TB: t, ctx: ctx, site: strings.TrimSuffix(site, "/")}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatalf("%s does not start: %v", program, err)
	}
	return b
}

// note keeps what a page may not do: run into an error, violate its policy, open a dialog, ask another host.
func (b *Browser) note(event any) {
	wrong := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		wrong = "an exception: " + e.ExceptionDetails.Text
	case *page.EventJavascriptDialogOpening:
		wrong = "a dialog: " + e.Message
	case *log.EventEntryAdded:
		if e.Entry.Source != log.EntrySourceNetwork { // refusals and cut connections are what tests ask for
			wrong = fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.site+"/") {
			wrong = "a request to " + url
		}
	}
	if wrong != "" {
		b.mu.Lock()
		b.wrong = append(b.wrong, wrong)
		b.mu.Unlock()
	}
}

// Wrong returns what pages did and may not do: errors of scripts, violations of the policy, dialogs, requests to other hosts.
func (b *Browser) Wrong() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wrong
}

// Go loads a page of the site.
func (b *Browser) Go(path string) {
	b.Helper()
	b.do("load "+path, chromedp.Navigate(b.site+path))
}

// Run runs a script on the page. It may lead to another page.
func (b *Browser) Run(script string) {
	b.Helper()
	// The page may be gone before it returns.
	if _, err := run(b, chromedp.Evaluate[bool]("setTimeout(() => {"+script+"}), true")); err != nil {
		b.Fatalf("%s: %v", script, err)
	}
}

// Wait waits until a condition in JavaScript holds on the page, or on one that it leads to.
func (b *Browser) Wait(condition string) {
	b.Helper()
	b.Within(patience, condition)
}

// Within is Wait for what may take longer.
func (b *Browser) Within(patience time.Duration, condition string) {
	b.Helper()
	start := time.Now()
	for {
		_, err := run(b, chromedp.Poll[bool](condition, chromedp.WithPollingTimeout(patience)))
		if err == nil {
			return
		}
		if time.Since(start) > patience {
			text, _ := run(b, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
			b.Fatalf("never: %s: %v\n%s", condition, err, text)
		}
	}
}

// Shows waits until the page shows a text.
func (b *Browser) Shows(text string) {
	b.Helper()
	b.Wait(fmt.Sprintf("document.body?.innerText.includes(%q)", text))
}

// Read returns the value of an expression in JavaScript.
func Read[T any](b *Browser, expression string) T {
	b.Helper()
	value, err := run(b, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Size sets the size of the window, and whether pages are dark.
func (b *Browser) Size(width, height int64, dark bool) {
	b.Helper()
	theme := "light"
	if dark {
		theme = "dark"
	}
	b.do("resize", chromedp.EmulateViewport(width, height))
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}); err != nil {
		b.Fatal(err)
	}
}

// Picture returns the window as PNG.
func (b *Browser) Picture() []byte {
	b.Helper()
	picture, err := run(b, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	return picture
}

func (b *Browser) do(what string, action chromedp.Action[chromedp.Void]) {
	b.Helper()
	if _, err := run(b, action); err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

func run[T any](b *Browser, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, 2*patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}
