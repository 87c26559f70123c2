package web

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// signInPath is where a link signs in. It is no name of a repository: settings is reserved.
const signInPath = "/settings/sign-in"

// cookie is the name of the cookie of a session.
const cookie = "signed-in"

// linkLasts is how long a link signs in; sessionLasts how long one is signed in by it.
const (
	linkLasts    = 24 * time.Hour
	sessionLasts = 30 * 24 * time.Hour
)

// Sessions are the people who are signed in by a link. They end with the process. A session
// reads pages and does nothing else: its cookie goes to every port of the machine. So it is
// taken only of processes of the system's user who signed in.
type Sessions struct {
	now   func() time.Time
	mu    sync.Mutex
	links map[[sha256.Size]byte]grant
	ids   map[[sha256.Size]byte]grant
}

// grant is the token that a link or a session stands for, and until when.
type grant struct {
	token string
	until time.Time
	user  string // of this machine, whose process began the session: see httpserver.SystemUser
}

// NewSessions returns no sessions yet. now is the clock.
func NewSessions(now func() time.Time) *Sessions {
	return &Sessions{now: now, links: map[[sha256.Size]byte]grant{}, ids: map[[sha256.Size]byte]grant{}}
}

// Link returns the path and query of a link that signs the owner of the token in, once.
func (s *Sessions) Link(token string) string {
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[sha256.Sum256([]byte(code))] = grant{token: token, until: s.now().Add(linkLasts)}
	return signInPath + "?code=" + code
}

// take exchanges the code of a link for the id of a session of the user. No code is taken twice.
func (s *Sessions) take(code, user string) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	g, ok := s.links[key]
	delete(s.links, key)
	if !ok || s.now().After(g.until) {
		return "", false
	}
	id = rand.Text()
	s.ids[sha256.Sum256([]byte(id))] = grant{g.token, s.now().Add(sessionLasts), user}
	return id, true
}

// signIn answers a link: it begins a session and leads to the first page.
func (s *Sessions) signIn(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return // a program that looks at links does not use them up
	}
	id, ok := s.take(r.URL.Query().Get("code"), httpserver.SystemUser(r))
	if !ok {
		http.Error(w, "This link has been used or is too old. The next start of `signalbox up` prints a new one; the token signs in, too.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: id, Path: "/", MaxAge: int(sessionLasts.Seconds()), HttpOnly: true,
		Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// signed serves requests that read with the credentials of their session, if they have none.
// It calls refused of one whose session is another user's.
func (s *Sessions) signed(h http.Handler, refused func(r *http.Request, why string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie(cookie)
		if err == nil && r.Header.Get("Authorization") == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			s.mu.Lock()
			g, ok := s.ids[sha256.Sum256([]byte(c.Value))]
			s.mu.Unlock()
			ok = ok && s.now().Before(g.until)
			switch {
			case !ok:
			case g.user != httpserver.SystemUser(r):
				refused(r, "the session is that of another user of this machine")
			default:
				r = r.Clone(r.Context())
				r.Header.Set("Authorization", "Bearer "+g.token)
			}
		}
		h.ServeHTTP(w, r)
	})
}
