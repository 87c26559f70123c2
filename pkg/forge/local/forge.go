// Package local is a forge on this machine: it speaks GitHub's REST over HTTP,
// backed by bare git repositories that are cloned and pushed to over smart
// HTTP. It stands in for GitHub where there is no network and no account.
//
// What is not in git is in a journal in the same directory; a change is on
// disk before it is answered, so the forge may be killed at any time.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/pkg/git"
)

// Config is what a forge is opened with.
type Config struct {
	// Dir holds the journal and the repositories; it is made when absent. Only
	// one forge at a time can have it.
	Dir string
	// URL is where people and clients reach the forge, such as
	// "http://127.0.0.1:8080"; see SetURL.
	URL string
	// Users are the accounts that can sign in.
	Users []User
	// Public lets everyone read every repository.
	Public bool
	// RateLimit is the requests an account may make in an hour; 0 is a million.
	RateLimit int
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Logger gets what no client can be told; nil discards it.
	Logger *slog.Logger
	// Computing is how often a pull request answers that whether it can be
	// merged is being computed, each time its head or base has moved.
	Computing int
	// Lagging is how many lists that somebody asks for do not show yet what they
	// have made, as where lists are read from a copy.
	Lagging int
	// Fault, when set, is asked before every request how that one goes wrong.
	Fault func(*http.Request) *Fault
}

// Forge is an open forge.
type Forge struct {
	config  Config
	repos   string // directory
	url     atomic.Pointer[string]
	state   atomic.Pointer[state]
	signIn  map[tokenHash]User
	quota   quota
	compare comparisons
	asked   asked
	unseen  unseen

	mu      sync.Mutex // serialises changes
	journal *journal
}

// ErrExists says that the repository is there already.
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
	signIn, err := signIns(config.Users)
	if err != nil {
		return nil, fmt.Errorf("local forge: %w", err)
	}
	f := &Forge{config: config, repos: filepath.Join(config.Dir, "repos"), signIn: signIn}
	f.SetURL(config.URL)
	if err := os.MkdirAll(f.repos, 0o700); err != nil {
		return nil, fmt.Errorf("local forge: %w", err)
	}
	journal, state, err := openJournal(filepath.Join(config.Dir, "journal.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("local forge: %w", err)
	}
	f.journal = journal
	f.state.Store(state)
	if err := errors.Join(f.enrol(), f.recover()); err != nil {
		return nil, errors.Join(fmt.Errorf("local forge: %w", err), f.Close())
	}
	return f, nil
}

// Close releases the directory. Requests after it fail.
func (f *Forge) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.journal.close()
}

// SetURL tells where the forge is reached, which may be known only once its
// server listens. Without it every answer names the host of its own request.
func (f *Forge) SetURL(url string) {
	url = strings.TrimRight(url, "/")
	f.url.Store(&url)
}

// CreateRepo makes the repository owner/name with the branches and tags of the
// git repository in fromDir, or an empty one when fromDir is empty. A
// repository that is there already is ErrExists and is left as it is.
func (f *Forge) CreateRepo(ctx context.Context, name, fromDir string) error {
	return f.createRepo(ctx, name, fromDir, "")
}

// CreateRepoFrom makes the repository owner/name with one branch of the git
// repository in fromDir, as its default branch, and nothing else. A repository
// that is there already is ErrExists and is left as it is.
func (f *Forge) CreateRepoFrom(ctx context.Context, name, fromDir, branch string) error {
	return f.createRepo(ctx, name, fromDir, branch)
}

func (f *Forge) createRepo(ctx context.Context, name, fromDir, only string) error {
	owner, base, err := splitName(name)
	if err != nil {
		return err
	}
	if _, ok := f.state.Load().repo(name); ok {
		return fmt.Errorf("%w: %s", ErrExists, name)
	}
	dir := f.dir(name)
	branch, err := createBare(ctx, dir, fromDir, only)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	return f.change(func(tx *tx) error {
		if _, ok := tx.state.repo(name); ok {
			return fmt.Errorf("%w: %s", ErrExists, name)
		}
		if _, ok := tx.state.account(owner); !ok {
			tx.put(entry{Account: &account{ID: tx.id(), Login: owner, Type: "Organization", Created: tx.now}})
		}
		tx.put(entry{Repo: name, Repository: &repository{
			ID: tx.id(), Owner: owner, Name: base, Branch: branch, Created: tx.now, Pushed: tx.now,
		}})
		return nil
	})
}

// Repos is the names of the repositories, sorted.
func (f *Forge) Repos() []string {
	var names []string
	for _, r := range f.state.Load().repos {
		names = append(names, r.fullName())
	}
	slices.Sort(names)
	return names
}

// dir is where the repository is; name is a checked owner/name.
func (f *Forge) dir(name string) string {
	return filepath.Join(f.repos, filepath.FromSlash(strings.ToLower(name))+".git")
}

func (f *Forge) git(name string) git.Runner {
	return git.New(f.dir(name)).WithIdentity(committerName, committerEmail)
}

func (f *Forge) now() time.Time { return f.config.Now().UTC().Truncate(time.Second) }

// recover finishes what the last process was killed in.
func (f *Forge) recover() error {
	ctx := context.Background()
	for _, name := range f.Repos() {
		if err := f.follow(ctx, name, 0); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
