package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// GitHub configures signing in by GitHub, which decides by teams. The zero value is no such signing in.
type GitHub struct {
	ClientID   string   `name:"client-id" placeholder:"ID" help:"OAuth app of GitHub by which people sign in. Its callback is the address of the console with /signin/github/callback."`
	SecretFile string   `name:"client-secret-file" type:"existingfile" placeholder:"FILE" help:"File with the secret of --github-client-id."`
	URL        string   `name:"url" default:"https://github.com" placeholder:"URL" help:"GitHub by which people sign in: ${default} by default, or an Enterprise Server."`
	Teams      []string `name:"team" placeholder:"ORG/TEAM=RIGHT" help:"Team that may sign in, and its right: view, act or admin. The greatest right counts. May be repeated."`
}

const (
	attempt       = "signalbox-console-signin" // cookie of a sign-in that GitHub has to confirm
	attemptLasts  = 10 * time.Minute
	forgePatience = 15 * time.Second
	maxForgeReply = 1 << 20 // bytes
)

// The reasons that GitHub signs nobody in.
var (
	errNotBegun = errors.New("this sign-in was not begun in this browser, or more than ten minutes ago: begin again")
	errDenied   = errors.New("GitHub has not confirmed the sign-in")
	errNoTeam   = errors.New("is in no team that may sign in here")
	errBusy     = errors.New("too many people sign in at this moment: try again in a minute")
	errForge    = errors.New("GitHub does not answer as expected")
)

// gitHub signs people in by the OAuth app of one console. It keeps no token.
type gitHub struct {
	app    oauth2.Config
	api    string // of REST, with a slash at its end
	teams  []team // the greatest rights first
	client *http.Client
	tries  *rate.Limiter
}

// team is a team with its right.
type team struct {
	org, slug string
	right     access.Kind
}

var teamForm = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9_][A-Za-z0-9._-]*)=(view|act|admin)$`)

// open returns nil if nothing is configured. base is the address of the console.
func (g GitHub) open(base string) (*gitHub, error) {
	if g.ClientID == "" && g.SecretFile == "" && len(g.Teams) == 0 {
		return nil, nil
	}
	if g.ClientID == "" || g.SecretFile == "" || len(g.Teams) == 0 {
		return nil, service.Usagef("--github-client-id, --github-client-secret-file and --github-team: want all three, or none")
	}
	secret, err := os.ReadFile(g.SecretFile)
	if err != nil || len(strings.TrimSpace(string(secret))) == 0 {
		return nil, service.Usagef("--github-client-secret-file %s: want a file with the secret of the app: %w", g.SecretFile, cmp.Or(err, errors.New("it is empty")))
	}
	at := strings.TrimSuffix(cmp.Or(g.URL, "https://github.com"), "/")
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return nil, service.Usagef("--github-url %s: want https://HOST", g.URL)
	}
	made := &gitHub{api: at + "/api/v3/", tries: rate.NewLimiter(rate.Every(time.Second), 20), app: oauth2.Config{
		ClientID: g.ClientID, ClientSecret: strings.TrimSpace(string(secret)), RedirectURL: base + "signin/github/callback", Scopes: []string{"read:org"},
		Endpoint: oauth2.Endpoint{AuthURL: at + "/login/oauth/authorize", TokenURL: at + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams},
	}, client: &http.Client{Timeout: forgePatience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}} // nobody else gets the token
	if u.Host == "github.com" {
		made.api = "https://api.github.com/"
	}
	for _, text := range g.Teams {
		m := teamForm.FindStringSubmatch(text)
		if m == nil {
			return nil, service.Usagef("--github-team %s: want ORG/TEAM=RIGHT, with the right view, act or admin", text)
		}
		made.teams = append(made.teams, team{m[1], m[2], access.Kind(m[3])})
	}
	rights := []access.Kind{access.Admin, access.Act, access.View}
	slices.SortStableFunc(made.teams, func(a, b team) int { return slices.Index(rights, a.right) - slices.Index(rights, b.right) })
	return made, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// beginGitHub leads the browser to GitHub. Its cookie has all that belongs to the sign-in: the server keeps nothing of those
// who do not come back.
func (c *Console) beginGitHub(w http.ResponseWriter, r *http.Request) {
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	next := base64.RawURLEncoding.EncodeToString([]byte(within(r.URL.Query().Get("next"))))
	c.setAttempt(w, r, strings.Join([]string{state, verifier, next}, "."), int(attemptLasts.Seconds()))
	http.Redirect(w, r, c.gitHub.app.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
}

// setAttempt sets the cookie of a sign-in. A browser sends it when GitHub leads back here, unlike that of a session.
func (c *Console) setAttempt(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: attempt, Value: value, Path: "/signin/github", MaxAge: seconds, HttpOnly: true, Secure: c.secure(r), SameSite: http.SameSiteLaxMode})
}

// endGitHub takes the browser back from GitHub.
func (c *Console) endGitHub(w http.ResponseWriter, r *http.Request) {
	c.setAttempt(w, r, "", -1)
	who, next, err := c.fromGitHub(r)
	if err != nil {
		status := http.StatusForbidden
		switch {
		case errors.Is(err, errBusy):
			status = http.StatusTooManyRequests
		case errors.Is(err, errForge):
			status = http.StatusBadGateway
		}
		c.log.Warn("sign-in refused", "why", err, "from", r.RemoteAddr)
		c.notSignedIn(w, status, sentence(err), next)
		return
	}
	id, s := c.sessions.start(who, r)
	c.welcome(w, r, id, s, next)
}

// fromGitHub returns the person whom GitHub has confirmed, and the page that they wanted.
func (c *Console) fromGitHub(r *http.Request) (who person, next string, err error) {
	kept, err := r.Cookie(attempt)
	if err != nil {
		return who, "", errNotBegun
	}
	parts, q := strings.Split(kept.Value, "."), r.URL.Query()
	if len(parts) != 3 || subtle.ConstantTimeCompare([]byte(parts[0]), []byte(q.Get("state"))) != 1 || len(parts[0]) < 20 {
		return who, "", errNotBegun
	}
	if path, err := base64.RawURLEncoding.DecodeString(parts[2]); err == nil {
		next = within(string(path))
	}
	if q.Get("error") != "" || q.Get("code") == "" {
		return who, next, errDenied
	}
	if !c.gitHub.tries.AllowN(c.now(), 1) {
		return who, next, errBusy
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), oauth2.HTTPClient, c.gitHub.client), forgePatience)
	defer cancel()
	token, err := c.gitHub.app.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(parts[1]))
	if no := new(oauth2.RetrieveError); errors.As(err, &no) { // its text has what GitHub sent
		return who, next, errDenied
	} else if err != nil {
		return who, next, errForge
	}
	who, err = c.gitHub.person(ctx, token)
	return who, next, err
}

// person returns the owner of a token, with the greatest right of their teams.
func (g *gitHub) person(ctx context.Context, token *oauth2.Token) (person, error) {
	var user struct{ Login string }
	if status, err := g.get(ctx, token, "user", &user); err != nil || status != http.StatusOK {
		return person{}, cmp.Or(err, fmt.Errorf("%w: it answers %d to the question who this is", errForge, status))
	}
	login := strings.ToLower(user.Login)
	if subject.CheckName(login) != nil {
		return person{}, fmt.Errorf("%w: the login is none", errForge)
	}
	for _, t := range g.teams {
		var in struct{ State string }
		status, err := g.get(ctx, token, "orgs/"+url.PathEscape(t.org)+"/teams/"+url.PathEscape(t.slug)+"/memberships/"+url.PathEscape(login), &in)
		switch {
		case err != nil:
			return person{}, err
		case status == http.StatusOK && in.State == "active":
			return person{access.Operator + login + access.GitHub, t.right}, nil
		case status != http.StatusOK && status != http.StatusNotFound:
			return person{}, fmt.Errorf("%w: it answers %d to the question for %s/%s: the organization may have to approve the app", errForge, status, t.org, t.slug)
		}
	}
	return person{}, fmt.Errorf("%s %w", login, errNoTeam)
}

// get reads a document of the API with a person's token. Of another status than 200 it reads nothing.
func (g *gitHub) get(ctx context.Context, token *oauth2.Token, path string, into any) (status int, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, g.api+path, nil)
	if err != nil {
		return 0, errForge
	}
	q.Header.Set("Accept", "application/vnd.github+json")
	token.SetAuthHeader(q)
	reply, err := g.client.Do(q)
	if err != nil {
		return 0, errForge
	}
	defer func() { _ = reply.Body.Close() }() // nothing was written
	if reply.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(reply.Body, maxForgeReply)).Decode(into) != nil {
		return 0, errForge
	}
	return reply.StatusCode, nil
}
