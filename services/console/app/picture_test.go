package app_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/browsertest"
)

var (
	pictures = flag.String("pictures", "", "directory that gets pictures of the console at -link; see make screenshots")
	link     = flag.String("link", "", "link that signs in to a console")
	phone    = flag.Bool("phone", false, "pictures as wide as a phone's screen")
)

// TestPicturesAreMade makes the pictures of the documents, of a console that runs.
func TestPicturesAreMade(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures: make screenshots makes them")
	}
	site, code, ok := strings.Cut(*link, "/signin")
	if !ok {
		t.Fatalf("-link %q is no link that signs in", *link)
	}
	b := browsertest.Open(t, site)
	b.Go("/signin" + code)
	b.Wait("document.querySelector('h1')?.innerText === 'Board' && document.getElementById('stream')?.classList.contains('live')")
	// In the middle of its history an instance stands where a guard has decided.
	b.Go("/i/acme/widgets/1")
	b.Shows("As it was after commit")
	history := fmt.Sprintf("/i/acme/widgets/1?seq=%d", browsertest.Read[int](b, "Math.round(Number(document.getElementById('seq').max) * 0.6)"))
	width, height := int64(1200), int64(720)
	if *phone {
		width, height = 390, 844
	}
	for _, dark := range []bool{false, true} {
		theme := map[bool]string{false: "light", true: "dark"}[dark]
		b.Size(width, height, dark)
		for _, page := range []struct{ name, path, shows string }{
			{"board", "/", "acme/widgets"}, {"inbox", "/inbox", "for people"}, {"instance", "/i/acme/widgets/1", "Time in each state"}, {"lifecycle", "/lifecycles/issue", "issue"},
			{"history", history, "This is the past"}, {"diff", "/diff/acme/widgets/1", "Change"},
		} {
			b.Go(page.path)
			b.Shows(page.shows)
			b.Wait("document.getElementById('stream')?.classList.contains('live') || !document.querySelector('script')") // a change never differs
			file := filepath.Join(*pictures, fmt.Sprintf("console-%s-%s.png", page.name, theme))
			if err := os.WriteFile(file, b.Picture(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if wrong := b.Wrong(); len(wrong) > 0 {
		t.Errorf("the pages did %q", wrong)
	}
}
