// Package httpserver makes the HTTP servers of the product: with limits of time, size
// and number, and deaf to browsers that pages of others send.
package httpserver

import (
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// The limits of a server. A handler that streams moves those of reading and writing
// with http.ResponseController.
const (
	HeaderTimeout = 10 * time.Second // for the header of a request
	ReadTimeout   = 30 * time.Second // for a request as a whole
	WriteTimeout  = time.Minute      // for its answer
	IdleTimeout   = time.Minute      // between two requests
	MaxHeader     = 64 << 10         // bytes
	MaxConns      = 512              // one more is closed at once
)

// New returns a server of the handler that listens nowhere yet. It answers requests to
// an IP address, to localhost and to the names. refused gets each request that guard
// refuses; its log gets the failures of the server, too.
func New(h http.Handler, refused *Refusals, names ...string) *http.Server {
	s := bounded(guard(refused, h, names))
	s.ReadTimeout, s.WriteTimeout = ReadTimeout, WriteTimeout
	s.ErrorLog = slog.NewLogLogger(refused.log.Handler(), slog.LevelWarn)
	return s
}

// NewProxy returns a server of a proxy for programs. Forwarded requests have no time limit,
// and name other hosts.
func NewProxy(h http.Handler) *http.Server { return bounded(h) }

func bounded(h http.Handler) *http.Server {
	var open atomic.Int64
	return &http.Server{
		Handler: h, ReadHeaderTimeout: HeaderTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHeader,
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if open.Add(1) > MaxConns {
					_ = c.Close()
				}
			case http.StateClosed, http.StateHijacked:
				open.Add(-1)
			}
		},
	}
}
