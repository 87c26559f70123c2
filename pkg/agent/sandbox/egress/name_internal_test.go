package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
)

// env is a proxy between a name server and a network that the test plays.
type env struct {
	*testing.T
	proxy *Proxy
	at    string // of the proxy

	mu      sync.Mutex
	answers [][]netip.Addr // of the name server, one a question; the last one stays
	asked   int
	reached []string
}

func newEnv(t *testing.T, listed string, answers ...[]netip.Addr) *env {
	t.Helper()
	list, err := Parse([]string{listed})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, at: l.Addr().String(), answers: answers}
	e.proxy = start(l, &Proxy{list: list, resolve: e.resolve, reach: e.reach})
	return e
}

func (e *env) resolve(context.Context, string, string) ([]netip.Addr, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	return e.answers[min(e.asked, len(e.answers))-1], nil
}

// reach is a server that answers a request with hello, at each address.
func (e *env) reach(_ context.Context, _, address string) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reached = append(e.reached, address)
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		// An answer before the request was read whole is an error of the connection to the client.
		if r, err := http.ReadRequest(bufio.NewReader(there)); err != nil || r.Body.Close() != nil {
			return
		}
		_, _ = io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
	}()
	return here, nil
}

// send returns what the proxy answers to a request.
func (e *env) send(request string) string {
	e.Helper()
	c, err := net.Dial("tcp", e.at)
	if err != nil {
		e.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		e.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		e.Fatal(err)
	}
	defer answer.Body.Close()
	text := ""
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body)
		text = string(body)
	}
	return fmt.Sprint(answer.StatusCode, " ", text)
}

const (
	tunnel = "CONNECT models.example.test:443 HTTP/1.1\r\nHost: models.example.test:443\r\n\r\n"
	page   = "GET http://models.example.test:443/ HTTP/1.1\r\nHost: models.example.test:443\r\nConnection: close\r\n\r\n"
)

func addrs(all ...string) (parsed []netip.Addr) {
	for _, text := range all {
		parsed = append(parsed, netip.MustParseAddr(text))
	}
	return parsed
}

func TestAListedNameOfAPrivateAddressIsRefused(t *testing.T) {
	for _, private := range []string{
		"127.0.0.1", "127.8.8.8", "10.0.0.7", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255",
		"::1", "::", "fd00::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:10.0.0.7", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
	} {
		for _, request := range []string{tunnel, page} {
			e := newEnv(t, "models.example.test", addrs(private, "8.8.8.8"))
			if got := e.send(request); !strings.HasPrefix(got, "403 ") || !strings.Contains(got, "is not a public address") {
				t.Errorf("%s: %.7s is answered with %s", private, request, got)
			}
			if refused := e.proxy.Close(); len(refused) != 1 || !strings.HasPrefix(refused[0], "models.example.test:443: ") || e.reached != nil {
				t.Errorf("%s: refused %q, reached %q", private, refused, e.reached)
			}
		}
	}
}

func TestANameThatChangesItsAddressReachesNoOtherThanTheOneChecked(t *testing.T) {
	for _, request := range []string{tunnel, page} {
		e := newEnv(t, "models.example.test", addrs("8.8.8.8"), addrs("127.0.0.1"))
		if got := e.send(request); !strings.HasPrefix(got, "200") {
			t.Errorf("it is answered with %s", got)
		}
		if e.asked != 1 || !slices.Equal(e.reached, []string{"8.8.8.8:443"}) {
			t.Errorf("the name was asked for %d times, and %q reached", e.asked, e.reached)
		}
		if got := e.send(request); !strings.HasPrefix(got, "403 ") {
			t.Errorf("after the change it is answered with %s", got)
		}
		e.proxy.Close()
		if e.asked != 2 || len(e.reached) != 1 {
			t.Errorf("the name was asked for %d times, and %q reached", e.asked, e.reached)
		}
	}
}

func TestATrustedNameMayLeadToAPrivateAddressAndAnotherMayNot(t *testing.T) {
	e := newEnv(t, "packages.example.com:80", []netip.Addr{netip.MustParseAddr("10.0.0.7")})
	if _, err := e.proxy.dial(t.Context(), "packages.example.com:80"); err == nil {
		t.Fatal("a private address is reached by a name that nobody trusts")
	}
	other, err := Parse([]string{"other.example.com:80"})
	if err != nil {
		t.Fatal(err)
	}
	e.proxy.list = e.proxy.list.Trusted().And(other)
	conn, err := e.proxy.dial(t.Context(), "packages.example.com:80")
	if err != nil || len(e.reached) != 1 || e.reached[0] != "10.0.0.7:80" {
		t.Fatalf("got %v, reached %v", err, e.reached)
	}
	_ = conn.Close()
	if _, err := e.proxy.dial(t.Context(), "other.example.com:80"); err == nil {
		t.Error("the other name is trusted as well")
	}
}
