package local

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/git"
)

//go:embed page.html
var pageSource string

// sheet is what a page for people shows; what is empty is left out.
type sheet struct {
	Title, State  string
	Crumbs        []link
	Labels        []string
	Remarks       []remark
	Commits       []link
	Diff          []line
	Links         []link
	Branches      string
	CloneURL      string
	DiffTruncated bool
}

type link struct{ Text, URL string }

// remark is something somebody said.
type remark struct {
	ID, Who, What string
	When          time.Time
	Text          string
}

// line is a line of a diff and what it is.
type line struct{ Kind, Text string }

// web serves the pages.
func (f *Forge) web() http.Handler {
	page := template.Must(template.New("page").Parse(pageSource))
	mux := http.NewServeMux()
	handle := func(path string, show func(*call) (sheet, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { f.show(w, r, page, show) })
	}
	handle("/{$}", showRepos)
	handle("/{owner}/{repo}", showRepo)
	handle("/{owner}/{repo}/issues", showRepo)
	handle("/{owner}/{repo}/pulls", showRepo)
	handle("/{owner}/{repo}/issues/{number}", showIssue)
	handle("/{owner}/{repo}/pull/{number}", showIssue)
	handle("/{owner}/{repo}/commit/{sha}", showCommit)
	return mux
}

func (f *Forge) show(w http.ResponseWriter, r *http.Request, page *template.Template, show func(*call) (sheet, error)) {
	c := &call{Request: r, f: f, state: f.state.Load(), header: w.Header()}
	user, err := f.authenticate(r)
	if err == nil {
		c.user = user
		if r.PathValue("owner") != "" {
			err = c.admit(read)
		}
	}
	if raw, media, ok := rawPull(r); ok && err == nil {
		r.SetPathValue("number", raw)
		f.showRaw(w, c, media)
		return
	}
	var s sheet
	if err == nil {
		s, err = show(c)
	}
	var out bytes.Buffer
	if err == nil {
		err = page.Execute(&out, s)
	}
	if err != nil {
		f.turnAway(w, c, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = w.Write(out.Bytes()) // the reader has gone: there is nobody to tell
}

// turnAway asks a person to sign in where that could help.
func (f *Forge) turnAway(w http.ResponseWriter, c *call, err error) {
	status, _ := f.explain(c.Request, err)
	if status == http.StatusUnauthorized || c.user.ID == 0 && !f.config.Public {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="local forge: the token is the password"`)
	}
	http.Error(w, http.StatusText(status), status)
}

// rawPull takes apart pull/N.diff and pull/N.patch.
func rawPull(r *http.Request) (number, media string, ok bool) {
	number, media, ok = strings.Cut(r.PathValue("number"), ".")
	return number, media, ok && strings.Contains(r.URL.Path, "/pull/") && slices.Contains([]string{"diff", "patch"}, media)
}

func (f *Forge) showRaw(w http.ResponseWriter, c *call, media string) {
	i, err := c.pull()
	var base string
	var out []byte
	if err == nil {
		base, err = f.mergeBase(c.Context(), c.name(), i.Pull)
	}
	if err == nil {
		out, err = f.diffText(c.Context(), c.name(), media, base, i.Pull.HeadSHA)
	}
	if err != nil {
		f.turnAway(w, c, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(out) // the reader has gone: there is nobody to tell
}

func showRepos(c *call) (sheet, error) {
	s := sheet{Title: "Repositories"}
	for _, name := range c.f.Repos() {
		if c.f.permission(c.user.Login, name) >= read {
			s.Links = append(s.Links, link{name, "/" + name})
		}
	}
	if s.Links == nil && c.user.ID == 0 {
		return s, errSignIn
	}
	return s, nil
}

func showRepo(c *call) (sheet, error) {
	v := c.view()
	s := sheet{Title: c.name(), CloneURL: v.repoURL(c.repo) + ".git"}
	for _, i := range slices.Backward(c.repo.issues) {
		kind := "issue"
		if i.Pull != nil {
			kind = "pull request"
		}
		s.Links = append(s.Links, link{fmt.Sprintf("#%d %s (%s, %s)", i.Number, i.Title, kind, i.stateName()), v.issueURL(c.repo, i)})
	}
	return s, nil
}

// stateName tells merged from closed.
func (i issue) stateName() string {
	switch {
	case i.Pull != nil && i.Pull.Merged != nil:
		return "merged"
	case i.open() && i.Pull.Draft:
		return "draft"
	}
	return i.State
}

var hidden = regexp.MustCompile(`(?s)<!--.*?-->\n*`)

func (c *call) remark(id, what, text string, author int64, when time.Time) remark {
	who, _ := c.state.accounts.get(author)
	return remark{ID: id, Who: cmp.Or(who.Login, "ghost"), What: what, When: when, Text: strings.TrimSpace(hidden.ReplaceAllString(text, ""))}
}

// showIssue shows an issue, or the pull request it is.
func showIssue(c *call) (sheet, error) {
	i, err := c.found(c.repo)
	if err == nil && i.Pull != nil {
		i, err = c.pull()
	}
	if err != nil {
		return sheet{}, err
	}
	v := c.view()
	s := sheet{
		Title: fmt.Sprintf("%s #%d", i.Title, i.Number), State: i.stateName(), Labels: i.Labels,
		Crumbs:  []link{{c.name(), v.repoURL(c.repo)}},
		Remarks: []remark{c.remark("description", "opened", i.Body, i.Author, i.Created)},
	}
	for _, m := range c.repo.commentsOn(i.Number) {
		s.Remarks = append(s.Remarks, c.remark(fmt.Sprintf("issuecomment-%d", m.ID), "commented", m.Body, m.Author, m.Created))
	}
	if i.Pull == nil {
		return s, nil
	}
	for _, w := range c.repo.reviewsOf(i.Number) {
		what := "reviewed: " + strings.ToLower(strings.ReplaceAll(w.State, "_", " "))
		s.Remarks = append(s.Remarks, c.remark(fmt.Sprintf("pullrequestreview-%d", w.ID), what, w.Body, w.Author, w.Submitted))
	}
	for _, l := range c.repo.linesOf(i.Number) {
		s.Remarks = append(s.Remarks, c.remark(fmt.Sprintf("discussion_r%d", l.ID), fmt.Sprintf("on %s:%d", l.Path, l.Line), l.Body, l.Author, l.Created))
	}
	slices.SortStableFunc(s.Remarks[1:], func(a, b remark) int { return a.When.Compare(b.When) })
	s.Branches = i.Pull.Head + " → " + i.Pull.Base
	commits, err := c.f.commits(c.Context(), c.name(), "--reverse", i.Pull.HeadSHA, "^"+i.Pull.BaseSHA)
	if err != nil {
		return s, err
	}
	for _, m := range commits {
		subject, _, _ := strings.Cut(m.message, "\n")
		s.Commits = append(s.Commits, link{m.sha[:10] + " " + subject, v.repoURL(c.repo) + "/commit/" + m.sha})
	}
	base, err := c.f.mergeBase(c.Context(), c.name(), i.Pull)
	if err != nil {
		return s, err
	}
	return s, c.addDiff(&s, base, i.Pull.HeadSHA)
}

func showCommit(c *call) (sheet, error) {
	sha, err := c.f.commit(c.Context(), c.name(), c.PathValue("sha"))
	if err != nil {
		return sheet{}, err
	}
	commits, err := c.f.commits(c.Context(), c.name(), "--no-walk=unsorted", sha)
	if err != nil {
		return sheet{}, err
	}
	m := commits[0]
	when, _ := time.Parse(time.RFC3339, m.author.date)
	s := sheet{
		Title: "Commit " + sha[:10], Crumbs: []link{{c.name(), c.view().repoURL(c.repo)}},
		Remarks: []remark{{ID: "message", Who: m.author.name, What: "committed", When: when, Text: m.message}},
	}
	return s, c.addDiff(&s, append(m.parents, emptyTree)[0], sha)
}

func (c *call) addDiff(s *sheet, from, to string) error {
	out, err := c.f.diffText(c.Context(), c.name(), "diff", from, to)
	if errors.Is(err, git.ErrTooLarge) {
		s.DiffTruncated, err = true, nil
	}
	for text := range strings.Lines(string(out)) {
		kind := "same"
		switch {
		case strings.HasPrefix(text, "diff --git"):
			kind = "file"
		case strings.HasPrefix(text, "@@"):
			kind = "hunk"
		case strings.HasPrefix(text, "+") && !strings.HasPrefix(text, "+++"):
			kind = "added"
		case strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "---"):
			kind = "removed"
		}
		s.Diff = append(s.Diff, line{kind, strings.TrimSuffix(text, "\n")})
	}
	return err
}
