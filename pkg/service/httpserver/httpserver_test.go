package httpserver_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })

func TestAServerAnswersToItsOwnNamesAlone(t *testing.T) {
	guarded := httpserver.Guard(hello, "Forge.example.test")
	for host, want := range map[string]int{
		"127.0.0.1:3000": http.StatusOK, "[::1]:3000": http.StatusOK, "[::1]": http.StatusOK, "10.0.0.7": http.StatusOK,
		"localhost": http.StatusOK, "LOCALHOST:80": http.StatusOK, "forge.localhost:80": http.StatusOK, "localhost.": http.StatusOK,
		"forge.example.test:80": http.StatusOK,
		"evil.example.test":     http.StatusMisdirectedRequest, "evil.example.test:3000": http.StatusMisdirectedRequest,
		"localhost.evil.example.test": http.StatusMisdirectedRequest, "127.0.0.1.evil.example.test": http.StatusMisdirectedRequest,
		"": http.StatusMisdirectedRequest, "evillocalhost": http.StatusMisdirectedRequest, "xforge.example.test": http.StatusMisdirectedRequest,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		if w.Code != want || want != http.StatusOK && strings.Contains(w.Body.String(), "hello") {
			t.Errorf("to %q: %d %s, want %d", host, w.Code, w.Body, want)
		}
	}
}

func TestAPageOfAnotherOriginChangesNothing(t *testing.T) {
	guarded := httpserver.Guard(hello)
	for _, c := range []struct {
		method, header, value string
		want                  int
	}{
		{http.MethodPost, "Origin", "https://evil.example.test", http.StatusForbidden},
		{http.MethodPost, "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{http.MethodPatch, "Sec-Fetch-Site", "same-site", http.StatusForbidden},
		{http.MethodPost, "Origin", "http://127.0.0.1:3000", http.StatusOK},
		{http.MethodPost, "Accept", "*/*", http.StatusOK}, // no browser
		{http.MethodGet, "Sec-Fetch-Site", "cross-site", http.StatusOK},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1:3000/", nil)
		r.Header.Set(c.header, c.value)
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s with %s: %s ends with %d, want %d", c.method, c.header, c.value, w.Code, c.want)
		}
	}
}

func TestOneConnectionTooManyIsClosed(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpserver.New(hello, httpserver.NewRefusals(slog.New(slog.DiscardHandler), nil))
	server.Start()
	defer server.Close()
	ask := func(c net.Conn) error {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		_, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err
	}
	dial := func() net.Conn {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var all []net.Conn
	for range httpserver.MaxConns {
		c := dial()
		defer c.Close()
		all = append(all, c)
	}
	if err := ask(all[len(all)-1]); err != nil {
		t.Fatalf("the last connection permitted: %v", err)
	}
	more := dial()
	defer more.Close()
	if ask(more) == nil {
		t.Error("one connection more is served")
	}
}

func TestALongHeaderIsRefused(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpserver.New(hello, httpserver.NewRefusals(slog.New(slog.DiscardHandler), nil))
	server.Start()
	defer server.Close()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	r.Header.Set("X", strings.Repeat("x", httpserver.MaxHeader+8<<10))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("it ends with %d", resp.StatusCode)
	}
}
