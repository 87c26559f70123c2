package httpserver

import (
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// ErrExposed means that others than this machine could reach a server without TLS or
// without a token.
var ErrExposed = errors.New("it is reached from other machines without TLS and a token")

// ErrSecurity means that the certificate, its key or the token cannot be used.
var ErrSecurity = errors.New("TLS")

// Security is how a server is protected.
type Security struct {
	Cert, Key string // files, in PEM; read again for each connection. Empty: no TLS
	Token     string // what a request has to bring for a handler of Bearer; empty: nothing
	Plain     bool   // listen beyond this machine without TLS or token, too
}

// Listen listens on an address, HOST:PORT. Beyond loopback it is ErrExposed without TLS
// and a token, unless Plain says so.
func Listen(addr string, s Security) (net.Listener, error) {
	if (s.Cert == "") != (s.Key == "") {
		return nil, fmt.Errorf("%w: a certificate and its key belong together", ErrSecurity)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !s.Plain && (s.Cert == "" || s.Token == "") && !Local(l) {
		return nil, errors.Join(ErrExposed, l.Close())
	}
	if s.Cert == "" {
		return l, nil
	}
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		return &cert, err
	}
	if _, err := load(nil); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrSecurity, err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: load}), nil
}

// Local reports whether only this machine reaches a listener.
func Local(l net.Listener) bool {
	tcp, ok := l.Addr().(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// Bearer returns h for requests that bring the token; refused gets each of the others.
// Without a token it returns h.
func Bearer(h http.Handler, token string, refused *Refusals) http.Handler {
	if token == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			refused.Note(r, "the token is missing or wrong")
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this needs the token, as Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}
