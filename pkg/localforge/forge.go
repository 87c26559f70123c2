// Package localforge is a forge on this machine. It serves GitHub's REST and GraphQL over
// HTTP, bare git repositories over git's smart HTTP protocol, and pages for people. It
// stands in for GitHub where there is no network and no account.
//
// The packages below it import each other in one direction:
//
//	local → rest, web → host → rules → store
//	              └──→ bare (git)
//
// The rest is in a journal in the same directory. A change is on disk before
// it is answered, so the forge may be killed at any time.
package localforge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/hook"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/rest"
	"github.com/signalbox/signalbox/pkg/localforge/store"
	"github.com/signalbox/signalbox/pkg/localforge/web"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// User is an account that can sign in.
type User = store.User

// App is a GitHub App.
type App = store.App

// Hook is the webhook of an App.
type Hook = store.Hook

// Installation is the installation of an App on all repositories of an owner.
type Installation = store.Installation

// Delivery is what a webhook delivers.
type Delivery = hook.Message

// DeliveryFault is what becomes of a delivery in place of being sent once, now.
type DeliveryFault = hook.Fault

// Secondary is the limit on accounts that write fast.
type Secondary = rest.Secondary

// Config is what a forge is opened with.
type Config struct {
	// Dir holds the journal and the repositories. It is created if there is none. Only one
	// forge at a time can have it.
	Dir string
	// URL is where people and clients reach the forge, such as "http://127.0.0.1:8080". See
	// SetURL.
	URL string
	// Users are the accounts that can sign in.
	Users []User
	// Apps are the GitHub Apps, each with the owners that have installed it.
	Apps []App
	// Public lets everyone read every repository.
	Public bool
	// RateLimit is the requests an account may make in an hour; 0 is a million.
	RateLimit int
	// Secondary is the limit on accounts that write fast; without writes there is none.
	Secondary Secondary
	// Git bounds what git clients may hold; without processes it is bare.DefaultLimits.
	Git bare.Limits
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Logger gets failures of the forge itself; nil discards them.
	Logger *slog.Logger
	// Denied gets each request with credentials that are nobody's; nil: Logger gets them.
	Denied *httpserver.Refusals
	// NoDrafts refuses draft pull requests, as GitHub does in private repositories of some plans.
	NoDrafts bool
	// Computing is how many answers say that the mergeability of a pull request is being
	// computed, each time its head or base has moved.
	Computing int
	// ComputingFor is how long it is being computed, from the first question about a head and
	// a base on.
	ComputingFor time.Duration
	// Stale, if set, says how old the state is that an answer to a GET shows, up to a minute,
	// as if it were read from a replica.
	Stale func(*http.Request) time.Duration
	// Lagging is how many lists do not show yet what the same account has created, as if
	// they were read from a replica.
	Lagging int
	// Late, if set, says whether a list does not show an issue or a comment on it yet, as if
	// it were read from a replica: list is issues or comments.
	Late func(list string, issue int64) bool
	// Delivery, if set, is called before each delivery of a webhook, but for repeated ones,
	// and returns what becomes of it, nil if it is sent once.
	Delivery func(Delivery) *DeliveryFault
	// Fault, if set, is called before every request and returns how that one fails, nil if
	// it does not.
	Fault func(*http.Request) *Fault
}

// Forge is an open forge. Its methods may be called from any goroutine.
type Forge struct {
	host   *host.Host
	config Config
	rest   *rest.Server

	sessions *web.Sessions
}

// ErrExists means that there is a repository of this name.
var ErrExists = errors.New("the repository exists")

// Open opens the forge in a directory, as it was when it was last used.
func Open(config Config) (*Forge, error) {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.RateLimit == 0 {
		config.RateLimit = 1_000_000
	}
	if config.Git.Processes == 0 {
		config.Git = bare.DefaultLimits()
	}
	h, err := open(config)
	if err != nil {
		return nil, fmt.Errorf("local forge: %w", err)
	}
	limits := rest.Config{RateLimit: config.RateLimit, Secondary: config.Secondary, Computing: config.Computing, Lagging: config.Lagging, Late: config.Late, Delivery: config.Delivery,
		Stale: config.Stale, ComputingFor: config.ComputingFor, NoDrafts: config.NoDrafts}
	return &Forge{host: h, config: config, rest: rest.New(h, limits), sessions: web.NewSessions(config.Now)}, nil
}

func open(config Config) (*host.Host, error) {
	access, err := store.NewAccess(config.Users, config.Apps, config.Public)
	if err != nil {
		return nil, err
	}
	repos, err := bare.NewRepos(filepath.Join(config.Dir, "repos"))
	if err != nil {
		return nil, err
	}
	rows, err := store.Open(config.Dir, config.Now)
	if err != nil {
		return nil, err
	}
	repos.Where(func(name string) string {
		if r, ok := rows.Load().Repo(name); ok {
			return r.Path()
		}
		return name
	})
	if config.Stale != nil {
		rows.Keep(time.Minute)
	}
	h := &host.Host{Store: rows, Access: access, Repos: repos, Log: config.Logger, Denied: cmp.Or(config.Denied, httpserver.NewRefusals(config.Logger, nil))}
	h.SetURL(config.URL)
	if err := errors.Join(access.Enrol(rows), recoverPulls(h)); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return h, nil
}

// recoverPulls finishes what the last process was killed in.
func recoverPulls(h *host.Host) error {
	for _, r := range h.Store.Load().Repos() {
		if err := h.Follow(context.Background(), r.FullName(), 0); err != nil {
			return fmt.Errorf("%s: %w", r.FullName(), err)
		}
	}
	return nil
}

// Close ends the deliveries of webhooks and releases the directory. Requests after it fail.
func (f *Forge) Close() error {
	f.rest.Close()
	return f.host.Store.Close()
}

// SetWebhook sets the webhook of all repositories, in addition to those of Apps and of
// single repositories. The certificate of its address is not checked.
func (f *Forge) SetWebhook(url, secret string) { f.rest.SetWebhook(url, secret) }

// SetURL sets where the forge is reached, which may be known only after its server
// listens. Without it every answer names the host of its own request.
func (f *Forge) SetURL(url string) { f.host.SetURL(url) }

// CreateRepo creates the repository owner/name with the branches and tags of the git
// repository in fromDir, or an empty one if fromDir is empty. It fails with ErrExists,
// and changes nothing, if there is a repository of this name.
func (f *Forge) CreateRepo(ctx context.Context, name, fromDir string) error {
	return f.createRepo(ctx, name, fromDir, "")
}

// CreateRepoFrom creates the repository owner/name with one branch of the git repository
// in fromDir, which becomes its default branch. It fails with ErrExists, and changes
// nothing, if there is a repository of this name.
func (f *Forge) CreateRepoFrom(ctx context.Context, name, fromDir, branch string) error {
	return f.createRepo(ctx, name, fromDir, branch)
}

func (f *Forge) createRepo(ctx context.Context, name, fromDir, only string) error {
	owner, base, err := store.SplitName(name)
	if err != nil {
		return err
	}
	state := f.host.Store.Load()
	if _, ok := state.Named(name); ok {
		return fmt.Errorf("%w: %s", ErrExists, name)
	}
	dir := name
	for _, r := range state.Repos() {
		if strings.EqualFold(r.Path(), dir) { // of one that was renamed
			dir = fmt.Sprintf("%s~%d", name, len(state.Repos()))
		}
	}
	branch, err := f.host.Repos.At(dir).Create(ctx, fromDir, only)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	return f.host.Store.Change(func(tx *store.Tx) error {
		if _, ok := tx.State.Named(name); ok {
			return fmt.Errorf("%w: %s", ErrExists, name)
		}
		if _, ok := tx.State.Account(owner); !ok {
			tx.Put(store.Entry{Account: &store.Account{ID: tx.ID(), Login: owner, Type: "Organization", Created: tx.Now}})
		}
		tx.Put(store.Entry{Repo: name, Repository: &store.Repository{
			ID: tx.ID(), Owner: owner, Name: base, Branch: branch, Created: tx.Now, Pushed: tx.Now, Dir: dir,
		}})
		return nil
	})
}

// RenameRepo gives a repository another name of the same owner. Its old one leads to it
// until another repository has that. It fails with ErrExists if the name is taken.
func (f *Forge) RenameRepo(name, to string) error {
	err := f.host.Rename(name, to)
	if errors.Is(err, host.ErrTaken) {
		return fmt.Errorf("%w: %s", ErrExists, to)
	}
	return err
}

// DeleteIssue deletes an issue with its comments.
func (f *Forge) DeleteIssue(repo string, number int64) error { return f.host.DeleteIssue(repo, number) }

// TransferIssue moves an issue with its comments to another repository. It returns the
// number that it has there.
func (f *Forge) TransferIssue(repo string, number int64, to string) (int64, error) {
	return f.host.TransferIssue(repo, number, to)
}

// ArchiveRepo makes a repository read-only, or ends that.
func (f *Forge) ArchiveRepo(name string, archived bool) error { return f.host.Archive(name, archived) }

// PutApp adds an App to the configuration, or replaces it by its id: with what it is
// installed on now.
func (f *Forge) PutApp(app App) error {
	was := f.host.Access.App(app.ID)
	f.host.Access.PutApp(app)
	err := f.host.Access.Enrol(f.host.Store)
	f.rest.AppChanged(was, app)
	return err
}

// SignInLink returns the path and query of a page that signs the owner of the token in, once
// and within a day, to read the pages until the process ends.
func (f *Forge) SignInLink(token string) string { return f.sessions.Link(token) }

// Repos returns the names of the repositories, sorted.
func (f *Forge) Repos() []string {
	var names []string
	for _, r := range f.host.Store.Load().Repos() {
		names = append(names, r.FullName())
	}
	slices.Sort(names)
	return names
}

// Handler returns the handler of the whole forge: REST below /api/v3/ and GraphQL at
// /api/graphql, and both at the root for clients that take no prefix; git over smart
// HTTP at /owner/name.git; pages at /owner/name.
func (f *Forge) Handler() http.Handler {
	api, graphql := f.rest.API(), f.rest.GraphQL()
	git, pages := f.host.Repos.Handler(f.host, f.config.Git, f.config.Logger), web.Handler(f.host, f.sessions)
	return withFaults(f.config.Fault, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case strings.HasPrefix(path, "/api/v3/"):
			http.StripPrefix("/api/v3", api).ServeHTTP(w, r)
		case atRoot(path):
			api.ServeHTTP(w, r)
		case path == "/api/graphql", path == "/graphql":
			graphql.ServeHTTP(w, r)
		case strings.HasSuffix(path, "/info/refs"), strings.HasSuffix(path, "/git-upload-pack"), strings.HasSuffix(path, "/git-receive-pack"):
			git.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	}))
}

// atRoot reports whether a path is one of REST without its prefix. None of them can be an
// owner's.
func atRoot(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return slices.Contains([]string{"user", "users", "repos", "repositories", "orgs", "app", "app-manifests", "installation"}, first)
}
