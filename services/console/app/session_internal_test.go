package app

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service/access"
)

var ann = person{"operator:ann", access.Act}

func code(link string) string { return strings.TrimSpace(link[strings.Index(link, "=")+1:]) }

func TestALinkSignsInOnceAndNotForEver(t *testing.T) {
	now := nine
	s := newSessions("http://127.0.0.1:1/", "", ann, time.Hour, func() time.Time { return now })
	link := code(s.link(ann))
	if id, _, err := s.take(link, ""); id == "" || err != nil {
		t.Fatalf("a new link: %q, %v", id, err)
	}
	if id, _, err := s.take(link, ""); id != "" || !errors.Is(err, errUsed) {
		t.Errorf("the same link again: %q, %v", id, err)
	}
	link = code(s.link(ann))
	now = now.Add(linkLasts + time.Second)
	if id, _, err := s.take(link, ""); id != "" || !errors.Is(err, errOld) {
		t.Errorf("an old link: %q, %v", id, err)
	}
}

func TestAfterManyWrongLinksNoReasonIsGivenAndARightOneStillSignsIn(t *testing.T) {
	s := newSessions("http://127.0.0.1:1/", "", ann, time.Hour, func() time.Time { return nine })
	wrong := map[error]int{}
	for range 30 {
		_, _, err := s.take("guess", "")
		wrong[err]++
	}
	if wrong[errUnknown] != 10 || wrong[errOften] != 20 {
		t.Errorf("30 guesses end with %v", wrong)
	}
	if id, _, err := s.take(code(s.link(ann)), ""); id == "" || err != nil {
		t.Errorf("a right link: %q, %v", id, err)
	}
}

func TestTheFileAlwaysHasALinkThatIsNotUsed(t *testing.T) {
	now, file := nine, filepath.Join(t.TempDir(), "link")
	s := newSessions("http://127.0.0.1:1/", file, ann, time.Hour, func() time.Time { return now })
	if err := s.publish(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 3 {
		now = now.Add(3 * linkLasts)
		s.link(ann) // removes old ones
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("its mode is %v, %v", info.Mode(), err)
		}
		if id, _, err := s.take(code(string(text)), ""); id == "" || err != nil || seen[string(text)] {
			t.Errorf("%q: %q, %v", text, id, err)
		}
		seen[string(text)] = true
	}
}

func TestAfterSigningInOnlyAPathOfThisSiteFollows(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "/": "/", "/i/acme/widgets/42?before=7": "/i/acme/widgets/42?before=7", "https://evil.example.test/": "", "//evil.example.test": "",
		`/\evil.example.test`: "", "i/x": "", "javascript:alert(1)": "", "/\t/evil.example.test": "",
	} {
		if got := within(path); got != want {
			t.Errorf("%q becomes %q, want %q", path, got, want)
		}
	}
}

func TestASlowPageMissesNoChange(t *testing.T) {
	h := newHub()
	board, one, other := h.open(""), h.open("a/b/1"), h.open("a/b/2")
	for range 100 {
		h.notify("a/b/1")
	}
	if len(board.dirty) != 1 || len(one.dirty) != 1 || len(other.dirty) != 0 {
		t.Errorf("the marks are %d, %d and %d", len(board.dirty), len(one.dirty), len(other.dirty))
	}
	for range maxStreams {
		h.open("")
	}
	if h.open("") != nil {
		t.Error("the number of streams has no bound")
	}
	h.close(board)
	if h.open("") == nil {
		t.Error("a closed stream leaves no room")
	}
}

func TestAPageSaysThatNoOrchestratorAnswers(t *testing.T) {
	c := &Console{cache: newCache(nil, newHub(), nil), now: time.Now}
	if f := c.frame(&session{who: ann}, "Board", "board"); !f.Stale.IsZero() || f.As != "ann" {
		t.Errorf("at its start the console says %+v", f)
	}
	c.cache.heard = time.Now().Add(-time.Minute)
	p, err := readPages()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	p.show(w, http.StatusOK, "board", boardPage{frame: c.frame(&session{who: ann}, "Board", "board")})
	if !strings.Contains(w.Body.String(), `role="alert">✕ No orchestrator answers. The page shows how it stood 1m ago.`) {
		t.Errorf("the page says\n%s", w.Body)
	}
	c.cache.take(client.Change{})
	if f := c.frame(&session{who: ann}, "Board", "board"); !f.Stale.IsZero() {
		t.Error("after an answer it still says so")
	}
}
