package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/browsertest"
)

func TestWhatAPageMayNotDoIsFound(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/blocked" {
			w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-eval'")
		}
		_, _ = w.Write([]byte(`<link rel="icon" href="data:,"><p>here</p><img src="http://evil.example.test/x"><script>alert(1)</script><script>none.such()</script>`))
	}))
	defer site.Close()
	b := browsertest.Open(t, site.URL)
	b.Go("/blocked")
	b.Shows("here")
	found := strings.Join(b.Wrong(), "\n")
	for _, want := range []string{"img-src", "script-src"} {
		if !strings.Contains(found, want) {
			t.Errorf("no violation of %s is found:\n%s", want, found)
		}
	}
}
