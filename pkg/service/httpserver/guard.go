package httpserver

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// AnyName is a name for a server whose names are not known.
const AnyName = "*"

// guard returns h for requests that no page of others has a browser send. A request has to
// name the server by an IP address, as localhost or by one of names. A page whose own name
// leads here (DNS rebinding) could read what h answers. One that changes something must not
// come from a page of another origin.
func guard(refused *Refusals, h http.Handler, names []string) http.Handler {
	refuse := func(w http.ResponseWriter, r *http.Request, status int, why string) {
		refused.Note(r, why)
		http.Error(w, why, status)
	}
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusForbidden, "a page of another origin may change nothing here")
	}))
	same := origins.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ours(r.Host, names) {
			refuse(w, r, http.StatusMisdirectedRequest, "no server of this name is here")
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		same.ServeHTTP(w, r)
	})
}

// ours reports whether a Host header names this server.
func ours(host string, names []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.Contains(names, AnyName) || host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		host != "" && slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, host) })
}
