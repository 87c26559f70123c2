package local

import (
	"net/http"
	"strconv"
	"strings"
)

// Handler serves the whole forge: REST below /api/v3/ and GraphQL at
// /api/graphql, and both, for clients that take no prefix, at the root; git over smart HTTP at /owner/name.git; pages
// for people at /owner/name.
func (f *Forge) Handler() http.Handler {
	api, graphql, git, web := f.api(), f.graphql(), f.gitHTTP(), f.web()
	return f.withFaults(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case strings.HasPrefix(path, "/api/v3/"):
			http.StripPrefix("/api/v3", api).ServeHTTP(w, r)
		case path == "/user", path == "/rate_limit", strings.HasPrefix(path, "/repos/"), strings.HasPrefix(path, "/users/"), strings.HasPrefix(path, "/orgs/"):
			api.ServeHTTP(w, r)
		case path == "/api/graphql", path == "/graphql":
			graphql.ServeHTTP(w, r)
		case strings.HasSuffix(path, "/info/refs"), strings.HasSuffix(path, "/git-upload-pack"), strings.HasSuffix(path, "/git-receive-pack"):
			git.ServeHTTP(w, r)
		default:
			web.ServeHTTP(w, r)
		}
	}))
}

// call is one REST request of somebody.
type call struct {
	*http.Request
	f      *Forge
	user   account // zero for nobody
	level  permission
	state  *state
	repo   repo // of paths below /repos/{owner}/{repo}
	header http.Header
}

// handler answers a call with a status and a body: nil for none, a text, or
// something to be written as JSON.
type handler func(*call) (status int, body any, err error)

// api is the table of what is served, to whom.
func (f *Forge) api() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, least permission, h handler) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, least, h) })
	}
	inRepo := func(method, path string, least permission, h handler) {
		handle(method+" /repos/{owner}/{repo}"+path, least, h)
	}
	handle("GET /user", none, getSelf)
	handle("GET /users/{login}", none, getUser)
	handle("GET /rate_limit", none, getRateLimit)
	handle("GET /orgs/{organisation}/members/{login}", none, getMember)
	handle("GET /orgs/{organisation}/public_members/{login}", none, getPublicMember)

	inRepo("GET", "", read, getRepo)
	inRepo("PATCH", "", admin, editRepo)
	inRepo("GET", "/activity", read, listActivity)
	inRepo("GET", "/collaborators/{user}/permission", read, getPermission)
	inRepo("GET", "/labels", read, listLabels)
	inRepo("POST", "/labels", write, createLabel)
	inRepo("GET", "/labels/{label}", read, getLabel)

	inRepo("GET", "/issues", read, listIssues)
	inRepo("POST", "/issues", read, createIssue)
	inRepo("GET", "/issues/{number}", read, getIssue)
	inRepo("PATCH", "/issues/{number}", read, editIssue)
	inRepo("GET", "/issues/comments", read, listAllComments)
	inRepo("GET", "/issues/comments/{id}", read, getComment)
	inRepo("PATCH", "/issues/comments/{id}", read, editComment)
	inRepo("DELETE", "/issues/comments/{id}", read, deleteComment)
	// One wildcard for what hangs on an issue: ServeMux cannot tell
	// issues/{number}/lock from issues/comments/{id}.
	for method, parts := range map[string]map[string]handler{
		"GET":    {"comments": listComments, "labels": listIssueLabels},
		"POST":   {"comments": createComment, "labels": needs(triage, addLabels)},
		"PUT":    {"lock": needs(write, lockIssue(true)), "labels": needs(triage, replaceLabels)},
		"DELETE": {"lock": needs(write, lockIssue(false)), "labels": needs(triage, clearLabels)},
	} {
		inRepo(method, "/issues/{number}/{part}", read, byPart(parts))
	}
	inRepo("DELETE", "/issues/{number}/labels/{label}", triage, removeLabel)

	inRepo("GET", "/pulls", read, listPulls)
	inRepo("POST", "/pulls", write, createPull)
	inRepo("GET", "/pulls/{number}", read, getPull)
	inRepo("PATCH", "/pulls/{number}", read, editPull)
	for method, parts := range map[string]map[string]handler{
		"GET": {
			"commits": listPullCommits, "files": listPullFiles, "merge": getMerged, "reviews": listReviews,
			"comments": listLines, "requested_reviewers": listAsked,
		},
		"POST":   {"reviews": createReview, "comments": createLine, "requested_reviewers": needs(write, askReviewers(true))},
		"PUT":    {"merge": needs(write, mergePull), "update-branch": needs(write, updatePull)},
		"DELETE": {"requested_reviewers": needs(write, askReviewers(false))},
	} {
		inRepo(method, "/pulls/{number}/{part}", read, byPart(parts))
	}
	inRepo("GET", "/pulls/comments/{id}", read, getLine)
	inRepo("PATCH", "/pulls/comments/{id}", read, editLine)
	inRepo("DELETE", "/pulls/comments/{id}", read, deleteLine)
	inRepo("POST", "/pulls/{number}/comments/{id}/replies", read, replyToLine)
	inRepo("GET", "/pulls/{number}/reviews/{id}", read, getReview)
	inRepo("PUT", "/pulls/{number}/reviews/{id}/dismissals", write, dismissReview)
	inRepo("GET", "/pulls/{number}/reviews/{id}/comments", read, listReviewLines)

	inRepo("GET", "/rules/branches/{branch...}", read, listRules)
	inRepo("POST", "/rulesets", admin, createRuleset)
	inRepo("DELETE", "/rulesets/{id}", admin, deleteRuleset)
	inRepo("PUT", "/branches/{branch...}", admin, protect)
	inRepo("DELETE", "/branches/{branch...}", admin, unprotect)

	inRepo("POST", "/statuses/{sha}", write, createStatus)
	inRepo("POST", "/check-runs", write, createCheck)
	inRepo("GET", "/check-runs/{id}", read, getCheck)
	inRepo("PATCH", "/check-runs/{id}", write, editCheck)
	inRepo("GET", "/commits", read, listCommits)
	inRepo("GET", "/commits/{ref...}", read, getCommitPart)
	inRepo("GET", "/compare/{range...}", read, compareCommits)

	inRepo("GET", "/branches", read, listBranches)
	inRepo("GET", "/branches/{branch...}", read, getBranch)
	inRepo("GET", "/git/ref/{ref...}", read, getRef)
	inRepo("POST", "/git/refs", write, createRef)
	inRepo("DELETE", "/git/refs/{ref...}", write, deleteRef)
	inRepo("GET", "/contents/{path...}", read, getContents)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			f.serve(w, r, none, func(*call) (int, any, error) { return 0, nil, errNotFound })
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// byPart dispatches on the last segment of the path.
func byPart(parts map[string]handler) handler {
	return func(c *call) (int, any, error) {
		if h, ok := parts[c.PathValue("part")]; ok {
			return h(c)
		}
		return 0, nil, errNotFound
	}
}

// needs refuses who may do less.
func needs(least permission, h handler) handler {
	return func(c *call) (int, any, error) {
		if c.level < least {
			return 0, nil, errForbidden
		}
		return h(c)
	}
}

func (f *Forge) serve(w http.ResponseWriter, r *http.Request, least permission, h handler) {
	c := &call{Request: r, f: f, state: f.state.Load(), header: w.Header()}
	status, body, err := 0, any(nil), error(nil)
	c.user, err = f.authenticate(r)
	counted := f.quota.count(w.Header(), c.user.ID, f.now(), f.config.RateLimit)
	if err == nil && !counted {
		err = &failure{status: http.StatusForbidden, message: "API rate limit exceeded for user ID " + strconv.FormatInt(c.user.ID, 10) + "."}
	}
	if err == nil {
		err = c.admit(least)
	}
	if err == nil {
		status, body, err = h(c)
	}
	f.answer(&refunding{ResponseWriter: w, refund: func() { f.quota.refund(w.Header(), c.user.ID) }}, r, status, body, err)
}

// admit finds the call's repository and refuses who may not do this there.
// Who may not even read it is told that there is none.
func (c *call) admit(least permission) error {
	if least == none {
		return nil
	}
	name := c.PathValue("owner") + "/" + c.PathValue("repo")
	r, ok := c.state.repo(name)
	if ok {
		c.level = c.f.permission(c.user.Login, name)
	}
	switch {
	case !ok || c.level < read:
		return errNotFound
	case c.user.ID == 0 && c.Method != http.MethodGet && c.Method != http.MethodHead:
		return errSignIn
	case c.level < least:
		return errForbidden
	}
	c.repo = r
	return nil
}

// change is Forge.change for the call's repository; afterwards the call sees
// the new state.
func (c *call) change(decide func(*tx, repo) error) error {
	err := c.f.change(func(t *tx) error {
		r, _ := t.state.repo(c.name())
		return decide(t, r)
	})
	c.refresh()
	return err
}

func (c *call) refresh() {
	c.state = c.f.state.Load()
	c.repo, _ = c.state.repo(c.name())
}

func (c *call) name() string { return c.repo.fullName() }

// id is the number in the path.
func (c *call) id(name string) int64 {
	n, err := strconv.ParseInt(c.PathValue(name), 10, 64)
	if err != nil {
		return 0 // nothing has this number
	}
	return n
}
