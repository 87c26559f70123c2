package httpserver_test

import (
	"bytes"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

func TestEachRefusalIsCountedAndTheLogIsNotFilled(t *testing.T) {
	var out bytes.Buffer
	counted := map[string]int{}
	refused := httpserver.NewRefusals(slog.New(slog.NewTextHandler(&out, nil)), func(why string) { counted[why]++ })
	h := httpserver.New(httpserver.Bearer(hello, "secret", refused), refused).Handler
	for range 1000 {
		for header, value := range map[string]string{"Host": "evil.example.test", "Origin": "https://evil.example.test", "Authorization": "Bearer wrong"} {
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/"+strings.Repeat("a", 500), nil)
			r.Header.Set(header, value)
			if header == "Host" {
				r.Host = value
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	want := map[string]int{"no server of this name is here": 1000, "a page of another origin may change nothing here": 1000, "the token is missing or wrong": 1000}
	if !maps.Equal(counted, want) {
		t.Errorf("%v are counted, want %v", counted, want)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 3 || out.Len() > 3*500 {
		t.Errorf("%d lines, %d bytes are logged:\n%s", lines, out.Len(), out.String())
	}
}
