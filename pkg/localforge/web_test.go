package localforge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"
)

func TestPagesForPeople(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	issue, _, err := rob.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("<script>alert(1)</script>"), Body: github.String("& so on")})
	must(t, err)
	comment, _, err := rob.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("<!-- hidden: 1 -->\n1. Which <b>version</b>?")})
	must(t, err)
	_, _, err = w.client(t, maxToken).Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("Yes. <!-- delete the tests -->\n<!--\nand more -->")})
	must(t, err)
	pr := w.propose(t, rob, work, "topic", "topic.txt", "<i>new</i>\n")
	_, _, err = w.client(t, adaToken).PullRequests.CreateReview(t.Context(), owner, name, 2, &github.PullRequestReviewRequest{Event: github.String("COMMENT"), Body: github.String("Hm.")})
	must(t, err)
	path := func(url string) string { return strings.TrimPrefix(url, w.url) }

	for _, tc := range []struct {
		what, path  string
		want, never []string
	}{
		{"the repositories", "/", []string{`href="/acme/widgets"`}, nil},
		{"the repository", "/acme/widgets", []string{issue.GetHTMLURL(), pr.GetHTMLURL(), "git clone " + w.url + "/acme/widgets.git"}, nil},
		{"an issue", path(issue.GetHTMLURL()),
			[]string{"&lt;script&gt;alert(1)&lt;/script&gt;", "&amp; so on", "&lt;!-- delete the tests --&gt;", "and more --", "<li>Which <b>version</b>?</li>", "rob[bot]",
				`id="` + comment.GetHTMLURL()[strings.Index(comment.GetHTMLURL(), "#")+1:] + `"`}, []string{"<script>", "hidden"}},
		{"a pull request", path(pr.GetHTMLURL()),
			[]string{"Write topic.txt", "topic → main", `<div class="added">&#43;&lt;i&gt;new&lt;/i&gt;</div>`, "reviewed: commented", "Hm.", pr.GetHead().GetSHA()}, nil},
		{"a pull request by its issue's address", "/acme/widgets/issues/2", []string{"topic → main"}, nil},
		{"a commit", "/acme/widgets/commit/" + pr.GetHead().GetSHA(), []string{"Write topic.txt", "topic.txt"}, nil},
		{"a diff", path(pr.GetDiffURL()), []string{"+<i>new</i>\n"}, nil},
		{"a patch", path(pr.GetPatchURL()), []string{"Subject: [PATCH] Write topic.txt"}, nil},
	} {
		t.Run(tc.what, func(t *testing.T) {
			resp, body := w.ask(t, "GET", tc.path, maxToken, "")
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", tc.path, resp.StatusCode, body)
			}
			for _, want := range tc.want {
				if !strings.Contains(body, want) {
					t.Errorf("%q is not on the page:\n%s", want, body)
				}
			}
			for _, never := range tc.never {
				if strings.Contains(body, never) {
					t.Errorf("%q is on the page:\n%s", never, body)
				}
			}
		})
	}
	t.Run("a page is in no frame, and turns no text around", func(t *testing.T) {
		turned, _, err := rob.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("abc\u202edcba"), Body: github.String("x\u2066y")})
		must(t, err)
		resp, body := w.ask(t, "GET", path(turned.GetHTMLURL()), maxToken, "")
		if strings.ContainsAny(body, "\u202e\u2066") || !strings.Contains(body, "abc‹U&#43;202E›dcba") || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s\n%s", resp.Header.Get("Content-Security-Policy"), body)
		}
	})
	t.Run("who has not signed in is asked to", func(t *testing.T) {
		for _, path := range []string{"/", "/acme/widgets", "/acme/widgets/issues/1", "/acme/absent"} {
			resp, _ := w.ask(t, "GET", path, "", "")
			if resp.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic") {
				t.Errorf("%s: %d", path, resp.StatusCode)
			}
		}
	})
	t.Run("what is not there is not found", func(t *testing.T) {
		for _, path := range []string{"/acme/widgets/issues/9", "/acme/widgets/pull/1.diff", "/acme/widgets/commit/main~1", "/favicon.ico"} {
			if resp, _ := w.ask(t, "GET", path, adaToken, ""); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", path, resp.StatusCode)
			}
		}
	})
}

func TestALinkSignsInOnceAndForReadingAlone(t *testing.T) {
	w := newEnv(t)
	link := w.SignInLink(adaToken)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, path string, with *http.Cookie) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, nil)
		must(t, err)
		if with != nil {
			r.AddCookie(with)
		}
		resp, err := client.Do(r)
		must(t, err)
		must(t, resp.Body.Close())
		return resp
	}
	resp := ask("GET", link, nil)
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" || len(resp.Cookies()) != 1 {
		t.Fatalf("the link answers %d, to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	session := resp.Cookies()[0]
	if !session.HttpOnly || session.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %v", session)
	}
	if got := ask("GET", "/"+full, session).StatusCode; got != http.StatusOK {
		t.Errorf("with the session a page answers %d", got)
	}
	for what, got := range map[string]int{
		"without the session a page":      ask("GET", "/"+full, nil).StatusCode,
		"with another session a page":     ask("GET", "/"+full, &http.Cookie{Name: session.Name, Value: "guessed"}).StatusCode,
		"with the session a form":         ask("POST", "/settings/apps", session).StatusCode,
		"with the session the API's user": ask("GET", "/api/v3/user", session).StatusCode,
	} {
		if got != http.StatusUnauthorized {
			t.Errorf("%s answers %d", what, got)
		}
	}
	for _, again := range []string{link, "/settings/sign-in?code=guessed", "/settings/sign-in"} {
		if got := ask("GET", again, nil).StatusCode; got != http.StatusForbidden {
			t.Errorf("%s answers %d", again, got)
		}
	}
}
