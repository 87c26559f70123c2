package rest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

var issuePath = lazyregexp.New(`^/repos/[^/]+/[^/]+/issues/\d+`)

// follow makes the answer about an issue that is not here any more: that it was deleted, or
// where it is now, if whoever asks may read that.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, err error) error {
	gone := new(host.GoneError)
	if !errors.As(err, &gone) {
		return err
	}
	if gone.Repo == 0 {
		return &failure{status: http.StatusGone, message: "This issue was deleted"}
	}
	visit, wrong := s.forge.Visit(r)
	to, ok := visit.State.ByID(gone.Repo)
	if wrong != nil || !ok || s.forge.Access.Reach(visit.Caller, to.FullName()) < store.Read {
		return host.ErrNotFound
	}
	status := http.StatusTemporaryRedirect
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		status = http.StatusMovedPermanently
	}
	at := fmt.Sprintf("%s/repositories/%d/issues/%d%s", visit.Links().API(), gone.Repo, gone.Number, issuePath.ReplaceAllString(r.URL.EscapedPath(), ""))
	if r.URL.RawQuery != "" {
		at += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", at)
	return &failure{status: status, message: http.StatusText(status)}
}
