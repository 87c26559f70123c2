package app

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/markdown"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

//go:embed asset
var asset embed.FS

// policy lets a page load the console's own style and script, and nothing else: no script or
// style within a page, no frame, no other host.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// frame is what each page has.
type frame struct {
	Title   string
	Here    string // the entry of the navigation: board, inbox or empty
	As      string // the person who is signed in; empty: nobody
	Right   string // of that person: view, act or admin
	Waiting int    // instances that wait for people
	Reads   bool   // the account may only read
	Live    bool   // the page keeps itself current
	Onward  string // the page leads there at once; empty: nowhere
	Acted   string // the instance that the last form was for
	Flash   string // what it did
	Refused string // why it did nothing
	Stale   time.Time
	At      time.Time
	Watch   string // the instance that the page is about
	Seq     uint64 // that the page shows
}

// signInPage is the data of the page that links lead to.
type signInPage struct {
	frame
	Link   string // file that has a link
	Login  bool   // signalbox console login prints a link
	GitHub bool   // people sign in by it
	Next   string // where a person who has signed in goes on
}

type pages struct {
	all    map[string]*template.Template
	assets map[string]string // name to hash
	now    func() time.Time
}

// readPages parses the templates.
func readPages() (pages, error) {
	p := pages{all: map[string]*template.Template{}, assets: map[string]string{}, now: time.Now}
	for _, name := range []string{"console.css", "console.js", "console.svg"} {
		text, err := asset.ReadFile("asset/" + name)
		if err != nil {
			return p, err
		}
		sum := sha256.Sum256(text)
		p.assets[name] = hex.EncodeToString(sum[:6])
	}
	base, err := template.New("frame.html").Funcs(p.funcs()).ParseFS(asset, "asset/frame.html")
	if err != nil {
		return p, err
	}
	for _, name := range []string{"board", "instance", "inbox", "lifecycle", "diff", "agents", "costs", "health", "whatif", "signin", "fault"} {
		t, err := base.Clone()
		if err == nil {
			t, err = t.ParseFS(asset, "asset/"+name+".html")
		}
		if err != nil {
			return p, err
		}
		p.all[name] = t.Lookup(name + ".html")
	}
	return p, nil
}

// moment is a time as pages show it.
type moment struct{ ISO, Exact, Ago string }

const (
	maxBody  = 16 << 10 // bytes of a text in Markdown on a page
	maxText  = 4 << 10  // bytes of what a program printed
	maxBrief = 1 << 10  // bytes of a reason
	maxTitle = 200      // characters
)

func (p pages) funcs() template.FuncMap {
	return template.FuncMap{
		"asset": func(name string) string { return "/asset/" + p.assets[name] + "/" + name },
		"moment": func(t time.Time) moment {
			if t.IsZero() {
				return moment{}
			}
			return moment{t.UTC().Format(time.RFC3339), t.UTC().Format("2006-01-02 15:04:05 UTC"), term.Duration(p.now().Sub(t))}
		},
		"due":   func(r boardRow) string { return r.Due(p.now()) },
		"title": title,
		"lines": view.FormLines,
		"words": func(s string) string { return cutText(s, maxText) },
		"brief": func(s string) string { return cutText(s, maxBrief) },
		"breakable": func(s string) template.HTML { // a name of words with _ between them
			return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(term.Cut(s, maxTitle)), "_", "_<wbr>")) //nolint:gosec // it is escaped
		},
		"markdown": rendered,
		"path":     instanceURL,
		"picture":  pictureURL,
		"side": func(p instancePage, when string, run instance.DemoRun) demoSide {
			return demoSide{p.In.Instance, when, run}
		},
		"short":    func(s string) string { return s[:min(len(s), 10)] },
		"one":      view.Count,
		"one64":    func(n int64, what string) string { return view.Count(int(n), what) },
		"duration": term.Duration,
	}
}

// title returns a line of strangers, no longer than a page has room for.
func title(s string) string { return term.Cut(sanitize.TerminalLine(s), maxTitle) }

// cutText returns the beginning of a text that is too long for a page.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("\n… %d bytes more", len(s)-most)
}

// rendered renders Markdown of strangers. A text that takes too long to parse is shown as it is.
func rendered(s string) template.HTML {
	s = sanitize.Terminal(cutText(s, maxBody))
	html, err := markdown.HTML([]byte(s))
	if err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(s) + "</pre>") //nolint:gosec // it is escaped
	}
	return template.HTML(html) //nolint:gosec // markdown.HTML escapes what is not harmless
}

// show answers with a page. No character that shows nothing, or turns the text around, reaches the
// browser.
func (p pages) show(w http.ResponseWriter, status int, name string, data any) {
	var out strings.Builder
	if err := p.all[name].Execute(&out, data); err != nil {
		http.Error(w, "The page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(sanitize.Terminal(out.String()))) // a reader that has gone needs no answer
}

// handler returns the handler of all pages.
func (c *Console) handler() http.Handler {
	mux := http.NewServeMux()
	signed := func(h func(http.ResponseWriter, *http.Request, *session)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if s := c.sessions.of(r); s != nil {
				h(w, r, s)
				return
			}
			next := ""
			if r.Method == http.MethodGet {
				next = r.URL.RequestURI()
			}
			c.pages.show(w, http.StatusUnauthorized, "signin", c.signInPage("Sign in", next))
		}
	}
	mux.HandleFunc("GET /{$}", signed(c.board))
	mux.HandleFunc("GET /inbox", signed(c.inbox))
	mux.HandleFunc("GET /lifecycles", signed(c.lifecycles))
	mux.HandleFunc("GET /lifecycles/{name}", signed(c.lifecycle))
	mux.HandleFunc("GET /agents", signed(c.agents))
	mux.HandleFunc("GET /costs", signed(c.costs))
	mux.HandleFunc("GET /health", signed(c.health))
	mux.HandleFunc("GET /whatif", signed(c.whatIf))
	mux.HandleFunc("GET /diff/{id...}", signed(c.diff))
	mux.HandleFunc("GET /picture/{hash}/{id...}", signed(c.picture))
	mux.HandleFunc("GET /e/{seq}", signed(c.eventAt))
	mux.HandleFunc("GET /i/{id...}", signed(func(w http.ResponseWriter, r *http.Request, s *session) { c.instance(w, r, s, refusal{}) }))
	mux.HandleFunc("POST /act/{id...}", signed(c.act))
	mux.HandleFunc("GET /events", signed(c.events))
	mux.HandleFunc("GET /signin", c.signIn)
	if c.gitHub != nil {
		mux.HandleFunc("GET /signin/github", c.beginGitHub)
		mux.HandleFunc("GET /signin/github/callback", c.endGitHub)
	}
	mux.HandleFunc("POST /signout", c.signOut)
	mux.HandleFunc("GET /asset/{hash}/{name}", func(w http.ResponseWriter, r *http.Request) {
		if hash := c.pages.assets[r.PathValue("name")]; hash != "" && hash == r.PathValue("hash") {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			http.ServeFileFS(w, r, asset, "asset/"+r.PathValue("name"))
			return
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("/", signed(func(w http.ResponseWriter, r *http.Request, s *session) {
		c.fault(w, r, s, http.StatusNotFound, "There is no such page.")
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "same-origin")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// frame returns what each page of a person who is signed in has.
func (c *Console) frame(s *session, title, here string) frame {
	f := frame{Title: title, Here: here, As: s.who.name(), Right: string(s.who.Right), Reads: !s.who.may(subject.Pause), Live: true, At: c.now()}
	f.Acted, f.Flash = s.said()
	if at, stale := c.cache.stale(); stale {
		f.Stale = at
	}
	return f
}

// fault answers that a page cannot be shown.
func (c *Console) fault(w http.ResponseWriter, _ *http.Request, s *session, status int, why string) {
	f := c.frame(s, "Not shown", "")
	f.Refused, f.Live = why, false
	c.pages.show(w, status, "fault", struct{ frame }{f})
}

// unanswered answers with the error of the orchestrator.
func (c *Console) unanswered(w http.ResponseWriter, r *http.Request, s *session, err error) {
	status, why := explained(err)
	c.fault(w, r, s, status, why)
}

// explained returns what a page says of an error of the orchestrator.
func explained(err error) (status int, why string) {
	var no *instance.Refusal
	switch {
	case errors.As(err, &no) && no.Code == instance.CodeUnknownInstance:
		return http.StatusNotFound, "There is no instance " + no.Instance + "."
	case errors.As(err, &no):
		why = fmt.Sprintf("%s (%s)", no.What, no.Code)
		if len(no.Allowed) > 0 {
			why += ". Permitted: " + strings.Join(no.Allowed, ", ")
		}
		return http.StatusConflict, why
	case errors.Is(err, client.ErrUnavailable):
		return http.StatusServiceUnavailable, "No orchestrator answers. Whether this was carried out is not known: look again before you repeat it."
	}
	return http.StatusBadGateway, err.Error()
}

// sentence returns an error as a page says it.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// board shows the board.
func (c *Console) board(w http.ResponseWriter, r *http.Request, s *session) {
	f, ignored := readFilter(r.URL.Query())
	now := c.now()
	snap := c.cache.snapshot()
	p := makeBoard(snap, f, now)
	p.frame, p.Ignored = c.frame(s, "Board", "board"), strings.Join(ignored, ", ")
	p.Seq, p.Waiting = snap.seq, snap.waits
	env := c.env()
	for i, row := range p.Rows {
		if row.Agent != "" && row.look().Class == "work" {
			p.Rows[i].Why = title(row.Agent) + " works on it."
			continue
		}
		in, err := c.cache.get(r.Context(), p.Rows[i].ID)
		if err != nil {
			if errors.Is(err, client.ErrUnavailable) {
				break // each of them would take as long
			}
			continue
		}
		p.Rows[i].Why = whyOf(env, in)
	}
	c.pages.show(w, http.StatusOK, "board", p)
}

// env is the terminal that the sentences of the command line are made for.
func (c *Console) env() *term.Env { return &term.Env{Now: c.now} }

// backTo returns where a form leads: the page that it stands on.
func backTo(form url.Values, id string) string {
	if form.Get("back") == "/inbox" {
		return "/inbox"
	}
	return instanceURL(id)
}
