// Package egress is the way out of a sandbox. It is an HTTP proxy that connects to listed
// hosts only, and to no private address whatever their names resolve to.
package egress

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// ErrRefused means that a host is not to be reached.
var ErrRefused = errors.New("refused")

// List has the hosts that can be reached.
type List struct{ entries []entry }

type entry struct {
	host  string // lower case; ".example.com" stands for all names below
	port  int
	plain netip.Addr // the address itself if it was listed: then it may be private
	trust bool       // its name may lead to a private address
}

// hostName matches the name of a host, or *. and the name of a domain.
var hostName = lazyregexp.New(`^(?:\*\.)?[\pL\d_](?:[\pL\d_-]|\.[\pL\d_])*$`)

// Parse reads entries of the form HOST, HOST:PORT, ADDRESS:PORT, or *.HOST. The
// port is 443 if there is none. An address that is written out may be private; a
// name never leads to one that is.
func Parse(entries []string) (List, error) {
	var l List
	for _, text := range entries {
		host, port := text, "443"
		if h, p, err := net.SplitHostPort(text); err == nil {
			host, port = h, p
		}
		number, err := strconv.ParseUint(port, 10, 16)
		host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
		if _, noAddress := netip.ParseAddr(host); err != nil || number == 0 || noAddress != nil && !hostName.MatchString(host) {
			return List{}, fmt.Errorf("egress %q: want HOST, HOST:PORT, *.HOST or [IPV6]:PORT, such as registry.example.com or 10.0.0.7:8080", text)
		}
		e := entry{host: strings.TrimPrefix(host, "*"), port: int(number)}
		if addr, err := netip.ParseAddr(host); err == nil {
			e.plain = addr.Unmap()
		} else if host == "localhost" {
			e.plain = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		}
		l.entries = append(l.entries, e)
	}
	return l, nil
}

// Trusted returns the list whose names may lead to private addresses: hosts that the user of
// this machine has configured, such as a registry within a company. No repository chooses one.
func (l List) Trusted() List {
	trusted := List{slices.Clone(l.entries)}
	for i := range trusted.entries {
		trusted.entries[i].trust = true
	}
	return trusted
}

// And returns the list of the entries of both.
func (l List) And(o List) List { return List{slices.Concat(l.entries, o.entries)} }

// String returns the entries as Parse reads them, apart by spaces.
func (l List) String() string {
	texts := make([]string, len(l.entries))
	for i, e := range l.entries {
		host := e.host
		if strings.HasPrefix(host, ".") {
			host = "*" + host
		}
		texts[i] = net.JoinHostPort(host, strconv.Itoa(e.port))
	}
	return strings.Join(texts, " ")
}

// Dial connects to a listed HOST:PORT, as a Proxy does for its clients.
func (l List) Dial(ctx context.Context, target string) (net.Conn, error) {
	p := Proxy{list: l, resolve: net.DefaultResolver.LookupNetIP, reach: new(net.Dialer).DialContext}
	return p.dial(ctx, target)
}

// Empty reports whether no host can be reached.
func (l List) Empty() bool { return len(l.entries) == 0 }

// Permits reports whether the list has an entry for HOST:PORT.
func (l List) Permits(target string) bool {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return false
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return false
	}
	_, ok := l.find(host, n)
	return ok
}

// Loopback returns the entries that name a port of this machine's loopback, each once.
func (l List) Loopback() []string {
	var found []string
	for _, e := range l.entries {
		if at := net.JoinHostPort(e.host, strconv.Itoa(e.port)); e.plain.IsLoopback() && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	return found
}

// find returns the entry that permits a host and port.
func (l List) find(host string, port int) (entry, bool) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	i := slices.IndexFunc(l.entries, func(e entry) bool {
		return e.port == port && (e.host == host || strings.HasPrefix(e.host, ".") && strings.HasSuffix(host, e.host))
	})
	if i < 0 {
		return entry{}, false
	}
	return l.entries[i], true
}

// Proxy lets the clients of one run out.
type Proxy struct {
	list     List
	password string // of the user "sandbox"; empty: all clients are the run's
	resolve  func(ctx context.Context, network, host string) ([]netip.Addr, error)
	reach    func(ctx context.Context, network, address string) (net.Conn, error)
	server   *http.Server

	mu      sync.Mutex
	refused []string
	open    map[net.Conn]bool
	wait    sync.WaitGroup
}

// maxRefused limits how many refusals are kept.
const maxRefused = 20

// dialWait limits how long a connection to a host may take.
const dialWait = 15 * time.Second

// Start serves clients of the listener. The caller must Close the proxy.
func Start(l net.Listener, list List, password string) *Proxy {
	return start(l, &Proxy{list: list, password: password, resolve: net.DefaultResolver.LookupNetIP, reach: new(net.Dialer).DialContext})
}

func start(l net.Listener, p *Proxy) *Proxy {
	p.open = map[net.Conn]bool{}
	p.server = httpserver.NewProxy(p)
	p.wait.Go(func() { _ = p.server.Serve(l) })
	return p
}

// Close ends all connections and returns what was refused, each once: "HOST:PORT: why".
func (p *Proxy) Close() []string {
	_ = p.server.Close()
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// ServeHTTP implements http.Handler: CONNECT, and requests in absolute form.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.authorized(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="sandbox"`)
		http.Error(w, "this proxy is another's", http.StatusProxyAuthRequired)
		return
	}
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	p.forward(w, r)
}

func (p *Proxy) authorized(r *http.Request) bool {
	if p.password == "" {
		return true
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("sandbox:"+p.password))
	return subtle.ConstantTimeCompare([]byte(want), []byte(r.Header.Get("Proxy-Authorization"))) == 1
}

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	server, err := p.dial(r.Context(), r.Host)
	if err != nil {
		p.fail(w, err)
		return
	}
	defer server.Close()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, "no tunnel here", http.StatusInternalServerError)
		return
	}
	client, buffered, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if !p.track(client, server) {
		return
	}
	defer p.forget(client, server)
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, buffered)
		if c, ok := server.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
	<-done
}

// track makes Close wait for a tunnel and end it.
func (p *Proxy) track(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.open[c] = true
	}
	p.wait.Add(1)
	return true
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.open, c)
	}
	p.wait.Done()
}

// forward answers a request in absolute form.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "this is a proxy: want CONNECT, or a request for an http URL", http.StatusBadRequest)
		return
	}
	host := r.URL.Host
	if r.URL.Port() == "" {
		host = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	out := r.Clone(r.Context())
	out.RequestURI, out.Close = "", true
	for _, name := range []string{"Proxy-Authorization", "Proxy-Connection", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade"} {
		out.Header.Del(name)
	}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx, host) },
	}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(out)
	if err != nil {
		p.fail(w, err)
		return
	}
	defer answer.Body.Close()
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

func (p *Proxy) fail(w http.ResponseWriter, err error) {
	if errors.Is(err, ErrRefused) {
		http.Error(w, "signalbox: "+err.Error(), http.StatusForbidden)
		return
	}
	http.Error(w, "signalbox: "+err.Error(), http.StatusBadGateway)
}

// dial connects to a host that is listed. It resolves the name, checks each
// address, and connects to that very address, so that a second answer of a name
// server changes nothing.
func (p *Proxy) dial(ctx context.Context, target string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(target)
	if err != nil {
		return nil, p.refuse(target, "want HOST:PORT")
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, p.refuse(target, "want HOST:PORT")
	}
	e, ok := p.list.find(host, port)
	if !ok {
		return nil, p.refuse(target, "not listed; --egress would list it")
	}
	ctx, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	addrs := []netip.Addr{e.plain}
	if !e.plain.IsValid() {
		if addrs, err = p.resolve(ctx, "ip", host); err != nil {
			return nil, err
		}
	}
	err = fmt.Errorf("%s has no address", host)
	for _, addr := range addrs {
		addr = addr.Unmap()
		if !e.plain.IsValid() && !e.trust && !public(addr) {
			return nil, p.refuse(target, addr.String()+" is not a public address")
		}
		var conn net.Conn
		if conn, err = p.reach(ctx, "tcp", netip.AddrPortFrom(addr, uint16(port)).String()); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (p *Proxy) refuse(target, why string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(target) > 255 {
		target = target[:255]
	}
	text := target + ": " + why
	if len(p.refused) < maxRefused && !slices.Contains(p.refused, text) {
		p.refused = append(p.refused, text)
	}
	return fmt.Errorf("%w: %s", ErrRefused, text)
}

// public reports whether an address is one of the public Internet: RFC 6890, and
// RFC 6598 for shared addresses.
func public(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(reserved(), func(p netip.Prefix) bool { return p.Contains(addr) })
}

func reserved() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}
