package github_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

func TestAWriteThatIsRedirectedStaysAWrite(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		asked := ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/repos/acme/") {
				http.Redirect(w, r, "/api/v3/repositories/7/issues/5/labels", status)
				return
			}
			body, _ := io.ReadAll(r.Body)
			asked = r.Method + " " + r.URL.Path + " " + strings.TrimSpace(string(body)) + " " + r.Header.Get("Authorization")
			_, _ = w.Write([]byte(`[]`))
		}))
		defer server.Close()
		c, err := github.New(github.Config{BaseURL: server.URL, Token: "s3cret"})
		must(t, err)
		err = c.AddLabels(t.Context(), repo, 5, []string{"held"})
		if want := `POST /api/v3/repositories/7/issues/5/labels ["held"] Bearer s3cret`; err != nil || asked != want {
			t.Errorf("%d: asked %q, %v, want %q", status, asked, err, want)
		}
	}
}

func TestAWriteToATransferredIssueOrAnotherServerIsRefused(t *testing.T) {
	for to, want := range map[string]error{
		"/api/v3/repositories/9/issues/77/labels":                  forge.ErrNotFound,
		"http://127.0.0.2:1/api/v3/repositories/7/issues/5/labels": forge.ErrDenied,
		"/api/v3/repos/acme/widgets/issues/5/labels":               forge.ErrUnavailable, // a loop
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || !strings.Contains(r.URL.Path, "/repos/acme/") {
				t.Errorf("%s: asked %s %s", to, r.Method, r.URL.Path)
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusMovedPermanently)
		}))
		defer server.Close()
		c, err := github.New(github.Config{BaseURL: server.URL})
		must(t, err)
		if err := c.AddLabels(t.Context(), repo, 5, []string{"held"}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", to, err, want)
		}
	}
}

func TestATransferredIssueIsNotReadAsAnother(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/repos/acme/") {
			http.Redirect(w, r, "/api/v3/repositories/9/issues/77", http.StatusMovedPermanently)
			return
		}
		_, _ = w.Write([]byte(`{"number":77,"title":"Elsewhere"}`))
	}))
	defer server.Close()
	c, err := github.New(github.Config{BaseURL: server.URL})
	must(t, err)
	if got, err := c.Issue(t.Context(), repo, 5); !errors.Is(err, forge.ErrNotFound) || !strings.Contains(err.Error(), "transferred") {
		t.Errorf("issue = %+v, %v", got, err)
	}
}
