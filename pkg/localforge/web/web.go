// Package web serves the pages of the local forge that people read in a browser.
package web

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/markdown"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

//go:embed page.html
var pageSource string

// page is the data of page.html. It leaves out what is empty.
type page struct {
	Title, State  string
	Crumbs        []link
	Labels        []string
	Remarks       []remark
	Commits       []link
	Diff          []diffLine
	Links         []link
	Branches      string
	CloneURL      string
	DiffTruncated bool
}

type link struct{ Text, URL string }

// readable returns the page with controls shown, and with no characters that turn text around.
func (p page) readable() page {
	p.Title, p.Branches = sanitize.TerminalLine(p.Title), sanitize.TerminalLine(p.Branches)
	lines := func(all []string) []string {
		out := make([]string, len(all))
		for i, s := range all {
			out[i] = sanitize.TerminalLine(s)
		}
		return out
	}
	links := func(all []link) []link {
		out := make([]link, len(all))
		for i, l := range all {
			out[i] = link{sanitize.TerminalLine(l.Text), l.URL}
		}
		return out
	}
	p.Labels, p.Crumbs, p.Commits, p.Links = lines(p.Labels), links(p.Crumbs), links(p.Commits), links(p.Links)
	p.Remarks, p.Diff = slices.Clone(p.Remarks), slices.Clone(p.Diff)
	for i, r := range p.Remarks {
		p.Remarks[i].Who, p.Remarks[i].What, p.Remarks[i].Text = sanitize.TerminalLine(r.Who), sanitize.TerminalLine(r.What), sanitize.Terminal(r.Text)
		if rendered, err := markdown.HTML([]byte(p.Remarks[i].Text)); err == nil && !r.Plain {
			p.Remarks[i].HTML = template.HTML(rendered) //nolint:gosec // markdown.HTML escapes what is not harmless
		}
	}
	for i, l := range p.Diff {
		p.Diff[i].Text = sanitize.Terminal(l.Text)
	}
	return p
}

// remark is a description, a comment, a review or a commit message.
type remark struct {
	ID, Who, What string
	When          time.Time
	Text          string
	Plain         bool          // Text is no Markdown
	HTML          template.HTML // of the Markdown; empty: Text is shown as it is
	Marks         string        // reactions
}

// diffLine is a line of a diff: file, hunk, added, removed or same.
type diffLine struct{ Kind, Text string }

// Handler returns the handler of the pages, which those of the sessions need not sign in for.
func Handler(h *host.Host, sessions *Sessions) http.Handler {
	s := site{forge: h, page: template.Must(template.New("page").Parse(pageSource))}
	mux := http.NewServeMux()
	handle := func(path string, read func(*host.Visit) (page, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, read) })
	}
	handle("/{$}", readRepos)
	handle("/{owner}/{repo}", readRepo)
	handle("/{owner}/{repo}/issues", readRepo)
	handle("/{owner}/{repo}/pulls", readRepo)
	handle("/{owner}/{repo}/issues/{number}", readIssue)
	handle("/{owner}/{repo}/pull/{number}", readIssue)
	handle("/{owner}/{repo}/commit/{sha}", readCommit)
	s.addApps(mux)
	mux.HandleFunc("GET "+signInPath, sessions.signIn)
	return sessions.signed(mux, h.Denied.Note)
}

type site struct {
	forge *host.Host
	page  *template.Template
}

func (s site) show(w http.ResponseWriter, r *http.Request, read func(*host.Visit) (page, error)) {
	v, err := s.forge.Visit(r)
	if err == nil && r.PathValue("owner") != "" {
		err = v.Enter(store.Read)
	}
	if number, media, ok := rawPull(r); ok && err == nil {
		r.SetPathValue("number", number)
		s.showRaw(w, v, media)
		return
	}
	var p page
	if err == nil {
		p, err = read(v)
	}
	var out bytes.Buffer
	if err == nil {
		err = s.page.Execute(&out, p.readable())
	}
	if err != nil {
		s.refuse(w, v, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	_, _ = w.Write(out.Bytes()) // a reader that has gone needs no answer
}

// refuse answers with the status that err means. It asks for a token where one could
// help.
func (s site) refuse(w http.ResponseWriter, v *host.Visit, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, host.ErrNotFound), errors.Is(err, bare.ErrNoCommit):
		status = http.StatusNotFound
	case errors.Is(err, host.ErrForbidden), errors.Is(err, host.ErrArchived):
		status = http.StatusForbidden
	case errors.Is(err, host.ErrSignIn), errors.Is(err, store.ErrCredentials):
		status = http.StatusUnauthorized
	default:
		s.forge.Log.Error("request failed", "method", v.Method, "path", v.URL.Path, "error", err)
	}
	if status == http.StatusUnauthorized || v.User.ID == 0 && !s.forge.Access.Public {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="local forge: the token is the password"`)
	}
	http.Error(w, http.StatusText(status), status)
}

// rawPull splits pull/N.diff and pull/N.patch.
func rawPull(r *http.Request) (number, media string, ok bool) {
	number, media, ok = strings.Cut(r.PathValue("number"), ".")
	return number, media, ok && strings.Contains(r.URL.Path, "/pull/") && slices.Contains([]string{"diff", "patch"}, media)
}

func (s site) showRaw(w http.ResponseWriter, v *host.Visit, media string) {
	i, err := v.PullRequest()
	var base string
	var out []byte
	if err == nil {
		base, err = v.Git().MergeBase(v.Context(), i.Pull.BaseSHA, i.Pull.HeadSHA)
	}
	if err == nil {
		out, err = v.Git().Diff(v.Context(), media, base, i.Pull.HeadSHA)
	}
	if err != nil {
		s.refuse(w, v, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(out) // a reader that has gone needs no answer
}

func readRepos(v *host.Visit) (page, error) {
	s := page{Title: "Repositories"}
	for _, name := range repoNames(v.State) {
		if v.Forge.Access.Reach(v.Caller, name) >= store.Read {
			s.Links = append(s.Links, link{name, "/" + name})
		}
	}
	if s.Links == nil && v.User.ID == 0 {
		return s, host.ErrSignIn
	}
	return s, nil
}

func readRepo(v *host.Visit) (page, error) {
	links := v.Links()
	s := page{Title: v.Name(), CloneURL: links.RepoURL(v.Repo) + ".git"}
	for _, i := range slices.Backward(v.Repo.Issues) {
		if i.Gone != nil {
			continue
		}
		kind := "issue"
		if i.Pull != nil {
			kind = "pull request"
		}
		s.Links = append(s.Links, link{fmt.Sprintf("#%d %s (%s, %s)", i.Number, i.Title, kind, stateName(i)), links.IssueURL(v.Repo, i)})
	}
	return s, nil
}

// stateName returns the state of the issue, which for a pull request may be merged or draft.
func stateName(i store.Issue) string {
	switch {
	case i.Pull != nil && i.Pull.Merged != nil:
		return "merged"
	case i.Open() && i.Pull.Draft:
		return "draft"
	}
	return i.State
}

// hidden are the marks of services in their texts. Those of others are shown: agents read them,
// and people vouch for a report by what they see of it.
var hidden = lazyregexp.New(`(?s)<!--.*?-->\n*`)

func newRemark(v *host.Visit, id, what, text string, by int64, when time.Time) remark {
	author, _ := v.State.Accounts.Get(by)
	if author.Type == "Bot" {
		text = hidden.ReplaceAllString(text, "")
	}
	return remark{ID: id, Who: cmp.Or(author.Login, "ghost"), What: what, When: when, Text: strings.TrimSpace(text)}
}

// readIssue reads the page of an issue or a pull request.
func readIssue(v *host.Visit) (page, error) {
	i, err := v.Issue(v.Repo)
	if err == nil && i.Pull != nil {
		i, err = v.PullRequest()
	}
	if err != nil {
		return page{}, err
	}
	links := v.Links()
	s := page{
		Title: fmt.Sprintf("%s #%d", i.Title, i.Number), State: stateName(i), Labels: i.Labels,
		Crumbs:  []link{{v.Name(), links.RepoURL(v.Repo)}},
		Remarks: []remark{newRemark(v, "description", "opened", i.Body, i.Author, i.Created)},
	}
	for _, m := range v.Repo.CommentsOn(i.Number) {
		said := newRemark(v, fmt.Sprintf("issuecomment-%d", m.ID), "commented", m.Body, m.Author, m.Created)
		for _, mark := range v.Repo.MarksOn(m.ID) {
			said.Marks += cmp.Or(pictures[mark.Content], mark.Content) + " "
		}
		s.Remarks = append(s.Remarks, said)
	}
	if i.Pull == nil {
		return s, nil
	}
	for _, w := range v.Repo.ReviewsOf(i.Number) {
		what := "reviewed: " + strings.ToLower(strings.ReplaceAll(w.State, "_", " "))
		s.Remarks = append(s.Remarks, newRemark(v, fmt.Sprintf("pullrequestreview-%d", w.ID), what, w.Body, w.Author, w.Submitted))
	}
	for _, l := range v.Repo.LinesOf(i.Number) {
		what := fmt.Sprintf("on %s:%d", l.Path, l.Line)
		s.Remarks = append(s.Remarks, newRemark(v, fmt.Sprintf("discussion_r%d", l.ID), what, l.Body, l.Author, l.Created))
	}
	slices.SortStableFunc(s.Remarks[1:], func(a, b remark) int { return a.When.Compare(b.When) })
	s.Branches = i.Pull.Head + " → " + i.Pull.Base
	commits, err := v.Git().Commits(v.Context(), "--reverse", i.Pull.HeadSHA, "^"+i.Pull.BaseSHA)
	if err != nil {
		return s, err
	}
	for _, m := range commits {
		subject, _, _ := strings.Cut(m.Message, "\n")
		s.Commits = append(s.Commits, link{m.SHA[:10] + " " + subject, links.RepoURL(v.Repo) + "/commit/" + m.SHA})
	}
	base, err := v.Git().MergeBase(v.Context(), i.Pull.BaseSHA, i.Pull.HeadSHA)
	if err != nil {
		return s, err
	}
	return s, addDiff(v, &s, base, i.Pull.HeadSHA)
}

// pictures are those of the reactions that services make.
var pictures = map[string]string{"eyes": "👀", "rocket": "🚀", "confused": "😕", "+1": "👍", "-1": "👎"}

func readCommit(v *host.Visit) (page, error) {
	sha, err := v.Git().Resolve(v.Context(), v.PathValue("sha"))
	if err != nil {
		return page{}, err
	}
	commits, err := v.Git().Commits(v.Context(), "--no-walk=unsorted", sha)
	if err != nil {
		return page{}, err
	}
	m := commits[0]
	when, _ := time.Parse(time.RFC3339, m.Author.Date)
	s := page{
		Title: "Commit " + sha[:10], Crumbs: []link{{v.Name(), v.Links().RepoURL(v.Repo)}},
		Remarks: []remark{{ID: "message", Who: m.Author.Name, What: "committed", When: when, Text: m.Message, Plain: true}},
	}
	return s, addDiff(v, &s, append(m.Parents, bare.EmptyTree)[0], sha)
}

func addDiff(v *host.Visit, s *page, from, to string) error {
	out, err := v.Git().Diff(v.Context(), "diff", from, to)
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
		s.Diff = append(s.Diff, diffLine{kind, strings.TrimSuffix(text, "\n")})
	}
	return err
}

func repoNames(s *store.State) []string {
	var names []string
	for _, r := range s.Repos() {
		names = append(names, r.FullName())
	}
	slices.Sort(names)
	return names
}
