package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// half opens a connection that begins a delivery and sends no more.
func half(t *testing.T, to, from string, n int) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := dialer.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: half-%d\r\n"+
		"X-Hub-Signature-256: sha256=%s\r\nContent-Length: 100000\r\n\r\n{", n, strings.Repeat("0", 64))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHalfDeliveriesFromOneAddressKeepNoOtherOut(t *testing.T) {
	e := newEnv(t)
	h := e.hook(repository{})
	arrived := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	to := server.Listener.Addr().String()
	var halves []net.Conn
	for n := range 64 {
		halves = append(halves, half(t, to, "127.0.0.2", n))
	}
	for range halves {
		<-arrived
	}
	r := posted("ping", "honest", "s3cret", []byte("{}"))
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", to
	resp, err := http.DefaultClient.Do(r.WithContext(context.WithoutCancel(e.ctx)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		says, _ := io.ReadAll(resp.Body)
		t.Errorf("the signed delivery is answered %d: %s", resp.StatusCode, says)
	}
	given := map[int]int{}
	for _, c := range halves {
		if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
			given[resp.StatusCode]++
			resp.Body.Close()
		}
	}
	if given[http.StatusBadRequest] > maxFrom || given[http.StatusServiceUnavailable] < 64-maxFrom {
		t.Errorf("the half ones are answered %v", given)
	}
}

func TestPlacesAreSharedByAddress(t *testing.T) {
	var p places
	taken := 0
	for n := range 10 * maxReading {
		if p.take(address(fmt.Sprintf("192.0.2.%d:%d", n%3, 1000+n))) {
			taken++
		}
	}
	if taken != 3*maxFrom {
		t.Errorf("three addresses have %d places", taken)
	}
	for p.take(fmt.Sprint(taken)) {
		taken++
	}
	if taken != maxReading {
		t.Errorf("all have %d places", taken)
	}
	p.free("192.0.2.1")
	if !p.take("192.0.2.9") {
		t.Error("a place that was left is not free")
	}
	for peer, want := range map[string]string{"192.0.2.1:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64", "[::ffff:192.0.2.1]:80": "192.0.2.1", "x": "x"} {
		if got := address(peer); got != want {
			t.Errorf("%s is %s, want %s", peer, got, want)
		}
	}
}
