// Package rest serves GitHub's REST and GraphQL for the local forge. Each handler
// decodes a request, changes the store or the git repository, and encodes the answer.
package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/hook"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// Server serves GitHub's REST and GraphQL for one forge.
type Server struct {
	config    Config
	forge     *host.Host
	quota     quota
	computing computing
	unseen    unseen
	teller    *teller
}

// Config is what a server is created with.
type Config struct {
	// RateLimit is the requests an account may make in an hour.
	RateLimit int
	// Secondary is the limit on accounts that write fast.
	Secondary Secondary
	// NoDrafts refuses draft pull requests, as GitHub does in private repositories of some plans.
	NoDrafts bool
	// Computing is how many answers say that the mergeability of a pull request is being
	// computed, each time its head or base has moved.
	Computing int
	// Lagging is how many lists do not show yet what the same account has created, as if
	// they were read from a replica.
	Lagging int
	// Late is whether a list, issues or comments, does not show what is of the issue yet;
	// nil: it shows everything.
	Late func(list string, issue int64) bool
	// Stale is the age of the state that a list is read from; nil: it is the newest.
	Stale func(*http.Request) time.Duration
	// ComputingFor is how long the mergeability of a pull request is being computed, from
	// the first question about its head and base on.
	ComputingFor time.Duration
	// Delivery decides the outcome of a delivery; nil: each is sent once.
	Delivery func(hook.Message) *hook.Fault
}

// New returns a server of the forge, which from now on tells webhooks of changes. Close it.
func New(forge *host.Host, config Config) *Server {
	s := &Server{forge: forge, config: config}
	s.teller = newTeller(s, hook.New(hook.Config{Now: forge.Store.Now, Log: forge.Log, Fault: config.Delivery}))
	forge.Store.Observe(s.teller.observe)
	return s
}

// SetWebhook sets the webhook of all repositories, in addition to those that they have.
func (s *Server) SetWebhook(url, secret string) {
	s.teller.setGlobal(hook.Target{ID: 1, Kind: "enterprise", Of: 1, URL: url, Secret: secret, Insecure: true})
}

// Close ends deliveries. Pending ones are dropped.
func (s *Server) Close() { s.teller.close() }

// call is one request.
type call struct {
	*host.Visit
	server *Server
	header http.Header // of the answer
}

// handler answers a call with a status and a body. The body is nil for none, a text, or
// a value that is encoded as JSON.
type handler func(*call) (status int, body any, err error)

// API returns the handler of REST: the table of routes, each with the permission that
// it needs.
func (s *Server) API() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, least store.Permission, h handler) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, least, h) })
	}
	inRepo := func(method, path string, least store.Permission, h handler) {
		handle(method+" /repos/{owner}/{repo}"+path, least, h)
	}
	handle("GET /user", store.None, getSelf)
	handle("GET /users/{login}", store.None, getUser)
	handle("POST /app-manifests/{code}/conversions", store.None, convertManifest)
	handle("GET /app", store.None, asApp(getApp))
	handle("GET /app/hook/config", store.None, asApp(getHook))
	handle("GET /app/hook/deliveries", store.None, asApp(listDeliveries(ofApp)))
	handle("GET /app/hook/deliveries/{delivery}", store.None, asApp(getDelivery(ofApp)))
	handle("POST /app/hook/deliveries/{delivery}/attempts", store.None, asApp(redeliver(ofApp)))
	handle("GET /app/installations", store.None, asApp(listInstallations))
	handle("GET /app/installations/{id}", store.None, asApp(getInstallation))
	handle("POST /app/installations/{id}/access_tokens", store.None, asApp(createToken))
	handle("GET /installation/repositories", store.None, listInstalled)
	handle("GET /repos/{owner}/{repo}/installation", store.None, asApp(findInstallation))
	handle("GET /orgs/{owner}/installation", store.None, asApp(findInstallation))
	handle("GET /users/{owner}/installation", store.None, asApp(findInstallation))
	handle("GET /orgs/{organisation}/members/{login}", store.None, getMember)
	handle("GET /orgs/{organisation}/public_members/{login}", store.None, getPublicMember)

	inRepo("GET", "", store.Read, getRepo)
	inRepo("PATCH", "", store.Admin, editRepo)
	inRepo("POST", "/branches/{branch}/rename", store.Write, renameBranch)
	inRepo("GET", "/activity", store.Read, listActivity)
	inRepo("GET", "/collaborators/{user}/permission", store.Read, getPermission)
	inRepo("GET", "/hooks", store.Admin, listWebhooks)
	inRepo("POST", "/hooks", store.Admin, createWebhook)
	inRepo("GET", "/hooks/{hook}", store.Admin, getWebhook)
	inRepo("PATCH", "/hooks/{hook}", store.Admin, editWebhook)
	inRepo("DELETE", "/hooks/{hook}", store.Admin, deleteWebhook)
	inRepo("POST", "/hooks/{hook}/pings", store.Admin, pingWebhook)
	inRepo("GET", "/hooks/{hook}/deliveries", store.Admin, listDeliveries(ofRepo))
	inRepo("GET", "/hooks/{hook}/deliveries/{delivery}", store.Admin, getDelivery(ofRepo))
	inRepo("POST", "/hooks/{hook}/deliveries/{delivery}/attempts", store.Admin, redeliver(ofRepo))
	inRepo("GET", "/labels", store.Read, listLabels)
	inRepo("POST", "/labels", store.Write, createLabel)

	inRepo("GET", "/issues", store.Read, listIssues)
	inRepo("POST", "/issues", store.Read, createIssue)
	inRepo("GET", "/issues/{number}", store.Read, getIssue)
	inRepo("PATCH", "/issues/{number}", store.Read, editIssue)
	inRepo("GET", "/issues/comments", store.Read, listAllComments)
	inRepo("GET", "/issues/comments/{id}", store.Read, getComment)
	inRepo("PATCH", "/issues/comments/{id}", store.Read, editComment)
	inRepo("DELETE", "/issues/comments/{id}", store.Read, deleteComment)
	inRepo("GET", "/issues/comments/{id}/reactions", store.Read, listReactions)
	inRepo("POST", "/issues/comments/{id}/reactions", store.Read, createReaction)
	inRepo("DELETE", "/issues/comments/{id}/reactions/{reaction}", store.Read, deleteReaction)
	// One wildcard for the parts of an issue: ServeMux cannot tell issues/{number}/lock
	// from issues/comments/{id}.
	for method, parts := range map[string]map[string]handler{
		"GET":    {"comments": listComments, "labels": listIssueLabels, "events": listIssueEvents},
		"POST":   {"comments": createComment, "labels": needs(store.Triage, addLabels)},
		"PUT":    {"lock": needs(store.Write, lockIssue(true)), "labels": needs(store.Triage, replaceLabels)},
		"DELETE": {"lock": needs(store.Write, lockIssue(false)), "labels": needs(store.Triage, clearLabels)},
	} {
		inRepo(method, "/issues/{number}/{part}", store.Read, byPart(parts))
	}
	inRepo("DELETE", "/issues/{number}/labels/{label}", store.Triage, removeLabel)

	inRepo("GET", "/pulls", store.Read, listPulls)
	inRepo("POST", "/pulls", store.Write, createPull)
	inRepo("GET", "/pulls/{number}", store.Read, getPull)
	inRepo("PATCH", "/pulls/{number}", store.Read, editPull)
	for method, parts := range map[string]map[string]handler{
		"GET": {
			"commits": listPullCommits, "files": listPullFiles, "reviews": listReviews,
			"comments": listLines, "requested_reviewers": listReviewers,
		},
		"POST":   {"reviews": createReview, "comments": createLine, "requested_reviewers": needs(store.Write, requestReviewers(true))},
		"PUT":    {"merge": needs(store.Write, mergePull), "update-branch": needs(store.Write, updatePull)},
		"DELETE": {"requested_reviewers": needs(store.Write, requestReviewers(false))},
	} {
		inRepo(method, "/pulls/{number}/{part}", store.Read, byPart(parts))
	}
	inRepo("GET", "/pulls/comments/{id}", store.Read, getLine)
	inRepo("PATCH", "/pulls/comments/{id}", store.Read, editLine)
	inRepo("DELETE", "/pulls/comments/{id}", store.Read, deleteLine)
	inRepo("POST", "/pulls/{number}/comments/{id}/replies", store.Read, replyToLine)
	inRepo("PUT", "/pulls/{number}/reviews/{id}/dismissals", store.Write, dismissReview)
	inRepo("GET", "/pulls/{number}/reviews/{id}/comments", store.Read, listReviewLines)

	inRepo("GET", "/rules/branches/{branch...}", store.Read, listRules)
	inRepo("POST", "/rulesets", store.Admin, createRuleset)
	inRepo("DELETE", "/rulesets/{id}", store.Admin, deleteRuleset)
	inRepo("PUT", "/branches/{branch...}", store.Admin, protect)
	inRepo("DELETE", "/branches/{branch...}", store.Admin, unprotect)

	inRepo("POST", "/statuses/{sha}", store.Write, createStatus)
	inRepo("POST", "/check-runs", store.Write, createCheck)
	inRepo("PATCH", "/check-runs/{id}", store.Write, editCheck)
	inRepo("GET", "/check-runs/{id}", store.Read, getCheck)
	inRepo("GET", "/check-runs/{id}/annotations", store.Read, listAnnotations)
	inRepo("GET", "/commits", store.Read, listCommits)
	inRepo("GET", "/commits/{ref...}", store.Read, getCommitPart)
	inRepo("GET", "/compare/{range...}", store.Read, compareCommits)

	inRepo("GET", "/branches", store.Read, listBranches)
	inRepo("GET", "/branches/{branch...}", store.Read, getBranch)
	inRepo("GET", "/git/ref/{ref...}", store.Read, getRef)
	inRepo("POST", "/git/refs", store.Write, createRef)
	inRepo("DELETE", "/git/refs/{ref...}", store.Write, deleteRef)
	inRepo("GET", "/contents/{path...}", store.Read, getContents)

	return s.moved(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			s.serve(w, r, store.None, func(*call) (int, any, error) { return 0, nil, host.ErrNotFound })
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// byPart dispatches on the last segment of the path.
func byPart(parts map[string]handler) handler {
	return func(c *call) (int, any, error) {
		if h, ok := parts[c.PathValue("part")]; ok {
			return h(c)
		}
		return 0, nil, host.ErrNotFound
	}
}

// needs refuses users that have less than the permission.
func needs(least store.Permission, h handler) handler {
	return func(c *call) (int, any, error) {
		if c.Level < least {
			return 0, nil, host.ErrForbidden
		}
		return h(c)
	}
}

// serve answers one request with the handler. In a repository the user needs at least
// the permission.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, least store.Permission, h handler) {
	status, body := 0, any(nil)
	visit, err := s.forge.Visit(r)
	if s.config.Stale != nil && r.Method == http.MethodGet {
		if visit.Age = s.config.Stale(r); visit.Age > 0 {
			visit.State = s.forge.Store.At(visit.Age)
		}
	}
	c := &call{Visit: visit, server: s, header: w.Header()}
	counter := counterOf(r, c.User.ID)
	counted := s.quota.count(w.Header(), counter, s.forge.Store.Now(), s.config.RateLimit)
	if err == nil && !counted {
		err = &failure{status: http.StatusForbidden, message: "API rate limit exceeded for user ID " + strconv.FormatInt(c.User.ID, 10) + "."}
	}
	if err == nil && r.Method != http.MethodGet && counter.resource == "core" {
		err = s.quota.write(w.Header(), c.User.ID, s.forge.Store.Now(), s.config.Secondary)
	}
	if err == nil && least > store.None {
		err = c.Enter(least)
	}
	if err == nil {
		status, body, err = h(c)
	}
	s.answer(&refunding{ResponseWriter: w, refund: func() { s.quota.refund(w.Header(), counter) }}, r, status, body, err)
}
