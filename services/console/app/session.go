package app

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// linkLasts is how long a link signs in.
const linkLasts = time.Hour

// cookie is the name of the cookie of a session.
const cookie = "signalbox-console"

// The reasons that a link signs nobody in.
var (
	errUsed    = errors.New("this link has been used: each link signs in once")
	errOld     = errors.New("this link is too old")
	errUnknown = errors.New("this is no link of this console: after a restart, earlier links sign nobody in")
	errOften   = errors.New("too many wrong links were tried: wait a minute")
)

// sessions are the browsers that are signed in, and the links that sign in. They end with the
// process. A cookie goes to every port of its host. So a session is taken only of processes of
// the system's user who signed in, where the system says who that is.
type sessions struct {
	base  string // URL of the first page
	self  person // whom the link in the file signs in as
	file  string // holds a link; empty: none does
	lasts time.Duration
	now   func() time.Time
	wrong *rate.Limiter // of wrong links

	mu    sync.Mutex
	links map[[sha256.Size]byte]link
	ids   map[[sha256.Size]byte]*session
}

// maxLinks bounds the links that are not used yet.
const maxLinks = 1000

type link struct {
	who   person
	until time.Time
	used  bool
	kept  bool // it is in the file
}

// session is one browser.
type session struct {
	who   person
	until time.Time
	user  string        // of this machine: see httpserver.SystemUser
	ended chan struct{} // closed when a person signs out

	mu    sync.Mutex
	acted string // the instance that the last form was for, for the next page
	flash string // the result of that form
}

func newSessions(base, file string, self person, lasts time.Duration, now func() time.Time) *sessions {
	return &sessions{base: base, file: file, self: self, lasts: lasts, now: now, wrong: rate.NewLimiter(rate.Every(6*time.Second), 10),
		links: map[[sha256.Size]byte]link{}, ids: map[[sha256.Size]byte]*session{}}
}

// link returns a new link that signs in as a person; empty if there are too many that nobody used.
func (s *sessions) link(who person) string {
	if code := s.add(who, false); code != "" {
		return s.base + "signin?code=" + code
	}
	return ""
}

func (s *sessions) add(who person, kept bool) (code string) {
	code = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for key, l := range s.links {
		if now.Sub(l.until) > linkLasts && (l.used || !l.kept) {
			delete(s.links, key)
		}
	}
	if len(s.links) >= maxLinks && !kept {
		return ""
	}
	s.links[sha256.Sum256([]byte(code))] = link{who: who, until: now.Add(linkLasts), kept: kept}
	return code
}

// publish writes a new link to the file, if there is one. The link in a file does not get old:
// who can read the file may sign in.
func (s *sessions) publish() error {
	if s.file == "" {
		return nil
	}
	half, err := os.CreateTemp(filepath.Dir(s.file), ".link-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = half.WriteString(s.base + "signin?code=" + s.add(s.self, true) + "\n")
	if err = errors.Join(err, half.Close()); err == nil {
		err = os.Rename(half.Name(), s.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(half.Name()))
	}
	return nil
}

// take exchanges the code of a link for a session and its id. No code is taken twice. A right
// code is taken whatever others tried: it cannot be guessed.
func (s *sessions) take(code, user string) (id string, one *session, err error) {
	kept := false
	id, one, kept, err = s.exchange(code, user)
	switch {
	case err == nil && kept:
		err = s.publish()
	case err != nil && !s.wrong.AllowN(s.now(), 1):
		err = errOften
	}
	return id, one, err
}

func (s *sessions) exchange(code, user string) (id string, one *session, kept bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	l, ok := s.links[key]
	switch {
	case !ok:
		return "", nil, false, errUnknown
	case l.used:
		return "", nil, false, errUsed
	case s.now().After(l.until) && !l.kept:
		return "", nil, false, errOld
	}
	l.used, l.until = true, s.now()
	s.links[key] = l
	id, one = s.begin(l.who, user)
	return id, one, l.kept, nil
}

// start begins a session of a person in the browser that a request is from.
func (s *sessions) start(who person, r *http.Request) (id string, one *session) {
	user := httpserver.SystemUser(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(who, user)
}

// begin begins a session of a person, and removes those that have ended. s.mu is held.
func (s *sessions) begin(who person, user string) (id string, one *session) {
	maps.DeleteFunc(s.ids, func(_ [sha256.Size]byte, old *session) bool { return !s.lives(old) })
	id, one = rand.Text(), &session{who: who, until: s.now().Add(s.lasts), user: user, ended: make(chan struct{})}
	s.ids[sha256.Sum256([]byte(id))] = one
	return id, one
}

// lives reports whether a session has not ended.
func (s *sessions) lives(one *session) bool { return s.now().Before(one.until) }

// of returns the session of a request, nil for none.
func (s *sessions) of(r *http.Request) *session {
	c, err := r.Cookie(cookie)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	one := s.ids[sha256.Sum256([]byte(c.Value))]
	s.mu.Unlock()
	if one == nil || !s.lives(one) || one.user != httpserver.SystemUser(r) {
		return nil
	}
	return one
}

// end ends the session of a request.
func (s *sessions) end(r *http.Request) {
	c, err := r.Cookie(cookie)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(c.Value))
	if one := s.ids[key]; one != nil {
		close(one.ended)
		delete(s.ids, key)
	}
}

// people returns the people who are signed in, or have a link.
func (s *sessions) people() []person {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[person]bool{}
	for _, one := range s.ids {
		all[one.who] = all[one.who] || s.lives(one)
	}
	for _, l := range s.links {
		all[l.who] = all[l.who] || !l.used
	}
	maps.DeleteFunc(all, func(_ person, signed bool) bool { return !signed })
	return slices.Collect(maps.Keys(all))
}

// revoke ends the sessions of a person, and their links.
func (s *sessions) revoke(who person) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.links, func(_ [sha256.Size]byte, l link) bool { return l.who == who })
	maps.DeleteFunc(s.ids, func(_ [sha256.Size]byte, one *session) bool {
		if one.who == who {
			close(one.ended)
		}
		return one.who == who
	})
}

// say keeps what a form did for the next page; said returns it, once.
func (s *session) say(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acted, s.flash = id, text
}

func (s *session) said() (id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, text, s.flash = s.acted, s.flash, ""
	return id, text
}

// signIn answers a link: it begins a session and leads to a page. It is no redirect of HTTP: a
// browser that comes from another site sends the cookie only from here on.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	next := within(r.URL.Query().Get("next"))
	code := r.URL.Query().Get("code")
	if code == "" || r.Method == http.MethodHead { // a program that looks at links does not use them up
		c.pages.show(w, http.StatusOK, "signin", c.signInPage("Sign in", next))
		return
	}
	id, one, err := c.sessions.take(code, httpserver.SystemUser(r))
	if id == "" {
		status := http.StatusForbidden
		if errors.Is(err, errOften) {
			status = http.StatusTooManyRequests
		}
		c.log.Warn("sign-in refused", "why", err, "from", r.RemoteAddr)
		c.notSignedIn(w, status, sentence(err), next)
		return
	}
	if err != nil {
		c.log.Error("no new link is in the file", "error", err)
	}
	c.welcome(w, r, id, one, next)
}

// welcome answers with the cookie of a new session, and leads to a page.
func (c *Console) welcome(w http.ResponseWriter, r *http.Request, id string, s *session, next string) {
	c.log.Info("signed in", "as", s.who.Actor, "right", s.who.Right, "from", r.RemoteAddr)
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: id, Path: "/", MaxAge: int(c.sessions.lasts.Seconds()), HttpOnly: true,
		Secure: c.secure(r), SameSite: http.SameSiteStrictMode})
	next = cmp.Or(next, "/")
	c.pages.show(w, http.StatusOK, "signin", signInPage{frame: frame{Title: "Signed in", As: s.who.name(), Right: string(s.who.Right), At: c.now(), Onward: next}, Next: next})
}

// signInPage returns the data of the page for a person who is not signed in.
func (c *Console) signInPage(title, next string) signInPage {
	return signInPage{frame: frame{Title: title}, Link: c.sessions.file, Login: c.party.Kind == access.Console, GitHub: c.gitHub != nil, Next: next}
}

// notSignedIn answers with the reason why a person is not signed in.
func (c *Console) notSignedIn(w http.ResponseWriter, status int, why, next string) {
	p := c.signInPage("Not signed in", next)
	p.Refused = why
	c.pages.show(w, status, "signin", p)
}

// secure reports whether the cookies of a request are for TLS alone.
func (c *Console) secure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(c.URL, "https:")
}

// within returns a path of this site, "" for another.
func within(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || len(path) < 1 || path[0] != '/' || len(path) > 1 && (path[1] == '/' || path[1] == '\\') {
		return ""
	}
	return u.String()
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	c.sessions.end(r)
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: c.secure(r), SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
}
