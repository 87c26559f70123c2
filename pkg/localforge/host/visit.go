package host

import (
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// Visit is one HTTP request, with the user that sent it and the repository in its path.
// Only the goroutine of the request uses it.
type Visit struct {
	*http.Request
	Forge  *Host
	Caller store.Caller
	User   store.Account // zero without credentials
	State  *store.State
	Repo   store.Repo       // after Enter
	Level  store.Permission // of the user in Repo
	Age    time.Duration    // of the state that it sees; 0: the newest
}

// Visit returns the visit of a request. If the credentials are wrong, it returns one
// without a user and store.ErrCredentials.
func (h *Host) Visit(r *http.Request) (*Visit, error) {
	caller, user, err := h.caller(r)
	return &Visit{Request: r, Forge: h, State: h.Store.Load(), Caller: caller, User: user}, err
}

// Enter finds the repository in the path and checks that the user has the permission
// there. A user who may not read it gets ErrNotFound; else it is ErrSignIn, ErrForbidden or
// ErrArchived.
func (v *Visit) Enter(least store.Permission) error {
	name := v.PathValue("owner") + "/" + v.PathValue("repo")
	r, ok := v.State.Repo(name)
	if ok {
		v.Level = v.Forge.Access.Reach(v.Caller, r.FullName())
	}
	switch {
	case !ok || v.Level < store.Read:
		return ErrNotFound
	case v.User.ID == 0 && v.Method != http.MethodGet && v.Method != http.MethodHead:
		return ErrSignIn
	case v.Level < least:
		return ErrForbidden
	case r.Archived && v.Method != http.MethodGet && v.Method != http.MethodHead && least < store.Admin: // an administrator ends it
		return ErrArchived
	}
	v.Repo = r
	return nil
}

// Name returns the repository's owner/name.
func (v *Visit) Name() string { return v.Repo.FullName() }

// Git returns the repository's git repository.
func (v *Visit) Git() bare.Repo { return v.Forge.Repos.Repo(v.Name()) }

// Links returns the URLs of the forge.
func (v *Visit) Links() Links { return v.Forge.Links(v.Request) }

// GitLinks returns the URLs that git is to use.
func (v *Visit) GitLinks() Links { return v.Forge.GitLinks(v.Request) }

// PathID returns the number in the path, 0 if there is none, which no row has.
func (v *Visit) PathID(name string) int64 {
	n, err := strconv.ParseInt(v.PathValue(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Change changes the repository. Afterwards the visit sees the new state.
func (v *Visit) Change(decide func(*store.Tx, store.Repo) error) error {
	err := v.Forge.Store.Change(func(t *store.Tx) error {
		t.By = v.User.ID
		r, _ := t.State.Repo(v.Name())
		return decide(t, r)
	})
	v.Refresh()
	return err
}

// Refresh makes the visit see the newest state.
func (v *Visit) Refresh() {
	v.State = v.Forge.Store.Load()
	if v.Age > 0 {
		v.State = v.Forge.Store.At(v.Age)
	}
	v.Repo, _ = v.State.Repo(v.Name())
}

// Issue returns the issue that the path names, as it is in r.
func (v *Visit) Issue(r store.Repo) (store.Issue, error) {
	i, ok := r.Issues.Get(v.PathID("number"))
	switch {
	case !ok:
		return store.Issue{}, ErrNotFound
	case i.Gone != nil:
		return store.Issue{}, &GoneError{*i.Gone}
	}
	return i, nil
}

// PullRequest returns the pull request that the path names, after it has followed its
// branches. Afterwards the visit sees the new state.
func (v *Visit) PullRequest() (store.Issue, error) {
	r, i, err := v.Forge.PullRequest(v.Context(), v.Name(), v.PathID("number"))
	if err != nil {
		return i, err
	}
	v.State, v.Repo = v.Forge.Store.Load(), r
	return i, nil
}
