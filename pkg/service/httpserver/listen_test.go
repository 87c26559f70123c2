package httpserver_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

func TestOnlyAProtectedServerListensBeyondThisMachine(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.pem")
	if err := os.WriteFile(broken, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		addr string
		s    httpserver.Security
		want error
	}{
		"loopback":                      {"127.0.0.1:0", httpserver.Security{}, nil},
		"loopback of IPv6 or localhost": {"localhost:0", httpserver.Security{}, nil},
		"every address":                 {"0.0.0.0:0", httpserver.Security{}, httpserver.ErrExposed},
		"no address":                    {":0", httpserver.Security{}, httpserver.ErrExposed},
		"a token alone":                 {":0", httpserver.Security{Token: "t"}, httpserver.ErrExposed},
		"said to be plain":              {":0", httpserver.Security{Plain: true}, nil},
		"half a certificate":            {"127.0.0.1:0", httpserver.Security{Cert: broken}, httpserver.ErrSecurity},
		"no certificate in the file":    {"127.0.0.1:0", httpserver.Security{Cert: broken, Key: broken}, httpserver.ErrSecurity},
		"the same beyond this machine":  {":0", httpserver.Security{Cert: broken, Key: broken, Token: "t"}, httpserver.ErrSecurity},
	} {
		l, err := httpserver.Listen(c.addr, c.s)
		if !errors.Is(err, c.want) || (l == nil) != (c.want != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if l != nil {
			_ = l.Close()
		}
	}
}

func TestATokenIsWanted(t *testing.T) {
	refused := httpserver.NewRefusals(slog.New(slog.DiscardHandler), nil)
	for header, want := range map[string]int{
		"": 401, "Bearer": 401, "Bearer ": 401, "Bearer wrong": 401, "Bearer secrets": 401, "secret": 401, "Basic secret": 401,
		"Bearer secret": 200,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		httpserver.Bearer(hello, "secret", refused).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", header, w.Code, want)
		}
	}
	w := httptest.NewRecorder()
	httpserver.Bearer(hello, "", refused).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusOK {
		t.Errorf("without a token: %d", w.Code)
	}
}
