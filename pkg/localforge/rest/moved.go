package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// moved redirects what asks for a repository by a name that it had before, as GitHub does:
// to the repository's number, a write so that it stays one. By its number a repository
// is answered for as by its name.
func (s *Server) moved(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.SplitN(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/", 4)
		state := s.forge.Store.Load()
		switch {
		case len(parts) >= 2 && parts[0] == "repositories":
			id, _ := strconv.ParseInt(parts[1], 10, 64)
			if repo, ok := state.ByID(id); ok {
				rest := strings.TrimPrefix(r.URL.EscapedPath(), "/repositories/"+parts[1])
				r = r.Clone(r.Context())
				r.URL.RawPath = "/repos/" + repo.FullName() + rest
				r.URL.Path = "/repos/" + repo.FullName() + strings.TrimPrefix(r.URL.Path, "/repositories/"+parts[1])
			}
		case len(parts) >= 3 && parts[0] == "repos":
			name := parts[1] + "/" + parts[2]
			if repo, ok := state.Repo(name); ok && !strings.EqualFold(repo.FullName(), name) {
				s.redirect(w, r, repo, strings.TrimPrefix(r.URL.EscapedPath(), "/repos/"+name))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// redirect sends who may read the repository to the same below its number.
func (s *Server) redirect(w http.ResponseWriter, r *http.Request, repo store.Repo, rest string) {
	status := http.StatusTemporaryRedirect
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		status = http.StatusMovedPermanently
	}
	s.serve(w, r, store.None, func(c *call) (int, any, error) {
		if c.Caller.App == nil && c.Forge.Access.Reach(c.Caller, repo.FullName()) < store.Read {
			return 0, nil, &failure{status: http.StatusNotFound, message: "Not Found"}
		}
		to := fmt.Sprintf("%s/repositories/%d%s", c.Links().API(), repo.ID, rest)
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		c.header.Set("Location", to)
		return status, object{"message": http.StatusText(status), "url": to, "documentation_url": documentation}, nil
	})
}
