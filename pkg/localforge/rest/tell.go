package rest

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/localforge/hook"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// teller tells webhooks of changes, in their order, in the background.
type teller struct {
	server *Server
	hooks  *hook.Sender
	ctx    context.Context
	stop   context.CancelFunc
	busy   sync.WaitGroup

	mu      sync.Mutex
	global  *hook.Target // the webhook of all repositories
	waiting []store.Changed
	telling bool
}

func newTeller(s *Server, hooks *hook.Sender) *teller {
	t := &teller{server: s, hooks: hooks}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t
}

// close drops the events that are not delivered yet.
func (t *teller) close() {
	t.stop()
	t.busy.Wait()
	t.hooks.Close()
}

// setGlobal sets the webhook of all repositories.
func (t *teller) setGlobal(to hook.Target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.global = &to
}

// observe notes a change if a webhook may get it.
func (t *teller) observe(change store.Changed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil || !t.heard(change) {
		return
	}
	t.waiting = append(t.waiting, change)
	if !t.telling {
		t.telling = true
		t.busy.Go(t.work)
	}
}

// heard reports whether there is a webhook at all. Its caller holds the lock.
func (t *teller) heard(change store.Changed) bool {
	return t.global != nil ||
		slices.ContainsFunc(t.server.forge.Access.Apps(), func(a store.App) bool { return a.Hook.Active && a.Hook.URL != "" }) ||
		slices.ContainsFunc(change.Entries, func(e store.Entry) bool {
			r, _ := change.After.Repo(e.Repo)
			return e.App != nil || len(r.Webhooks) > 0
		})
}

func (t *teller) work() {
	for {
		t.mu.Lock()
		if len(t.waiting) == 0 || t.ctx.Err() != nil {
			t.telling = false
			t.mu.Unlock()
			return
		}
		change := t.waiting[0]
		t.waiting = t.waiting[1:]
		t.mu.Unlock()
		t.tell(change)
	}
}

// tell sends the deliveries of one change.
func (t *teller) tell(change store.Changed) {
	for _, e := range change.Entries {
		c := t.server.callOf(t.ctx, change, e.Repo)
		if e.App != nil {
			before, _ := change.Before.Apps.Get(e.App.ID)
			t.send(c, c.installationEvents(before, *e.App))
			continue
		}
		before, _ := change.Before.Repo(e.Repo)
		t.send(c, c.events(before, e))
	}
}

// AppChanged tells an App of its installations, where it is not one of the store.
func (s *Server) AppChanged(was, now store.App) {
	c := s.callOf(s.teller.ctx, store.Changed{After: s.forge.Store.Load()}, "")
	s.teller.send(c, c.installationEvents(was, now))
}

// callOf returns a call of the state after the change, by whoever made it.
func (s *Server) callOf(ctx context.Context, change store.Changed, repo string) *call {
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/", nil) // a constant
	visit := &host.Visit{Request: r, Forge: s.forge, State: change.After}
	visit.Repo, _ = change.After.Repo(repo)
	visit.User, _ = change.After.Accounts.Get(change.By)
	if visit.User.ID == 0 {
		visit.User, _ = change.After.Account(visit.Repo.Owner)
	}
	return &call{Visit: visit, server: s, header: http.Header{}}
}

// listener is a webhook that gets an event.
type listener struct {
	hook.Target
	installation int64 // 0: it is no App's
}

// appTarget returns the webhook of an App.
func appTarget(app store.App) hook.Target {
	return hook.Target{ID: app.ID, Kind: "integration", Of: app.ID, URL: app.Hook.URL, Secret: app.Hook.Secret}
}

// repoTarget returns a webhook of a repository.
func repoTarget(r store.Repo, w store.Webhook) hook.Target {
	return hook.Target{ID: w.ID, Kind: "repository", Of: r.ID, URL: w.URL, Secret: w.Secret, Insecure: w.Insecure}
}

// listeners returns the webhooks that get the event.
func (t *teller) listeners(r store.Repo, e event) []listener {
	var all []listener
	for _, app := range t.server.forge.Access.Apps() {
		if !app.Hears(e.name) || e.app != 0 && e.app != app.ID {
			continue
		}
		if e.app != 0 {
			all = append(all, listener{Target: appTarget(app)})
		} else if i, ok := app.InstalledOn(r.Owner); ok && !i.Suspended {
			all = append(all, listener{appTarget(app), i.ID})
		}
	}
	if e.app != 0 {
		return all
	}
	for _, w := range r.Webhooks {
		if w.Hears(e.name) {
			all = append(all, listener{Target: repoTarget(r, w)})
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.global != nil {
		all = append(all, listener{Target: *t.global})
	}
	return all
}

func (t *teller) send(c *call, events []event) {
	for _, e := range events {
		for _, to := range t.listeners(c.Repo, e) {
			t.hooks.Send(to.Target, c.message(e, to.installation))
		}
	}
}

// message returns what is delivered of an event.
func (c *call) message(e event, installation int64) hook.Message {
	v, body := c.view(), with(e.body, "sender", c.view().account(c.User))
	if e.action != "" {
		body["action"] = e.action
	}
	if c.Repo.ID != 0 {
		body["repository"] = v.repo(c.Repo)
		if owner, _ := c.State.Account(c.Repo.Owner); owner.Type == "Organization" {
			body["organization"] = v.organization(owner)
		}
	}
	if installation != 0 {
		body["installation"] = object{"id": installation, "node_id": nodeID("Installation", installation)}
	}
	return hook.Message{Event: e.name, Action: e.action, Installation: installation, Repository: c.Repo.ID, Payload: encode(body)}
}

// organization returns an organisation as webhooks have it.
func (v view) organization(a store.Account) object {
	api := v.API() + "/orgs/" + a.Login
	return object{
		"login": a.Login, "id": a.ID, "node_id": nodeID("Organization", a.ID), "url": api, "repos_url": api + "/repos", "events_url": api + "/events",
		"hooks_url": api + "/hooks", "issues_url": api + "/issues", "members_url": api + "/members{/member}",
		"public_members_url": api + "/public_members{/member}", "avatar_url": string(v.Links) + "/avatars/" + a.Login, "description": nil,
	}
}

// installationEvents are those of an App's installations, which only it gets.
func (c *call) installationEvents(was, now store.App) []event {
	v := c.view()
	var all []event
	add := func(action string, i store.Installation) {
		repos := slices.DeleteFunc(c.State.Repos(), func(r store.Repo) bool { return !strings.EqualFold(r.Owner, i.Owner) })
		slices.SortFunc(repos, func(a, b store.Repo) int { return strings.Compare(a.FullName(), b.FullName()) })
		if c.User.ID == 0 { // it is the owner's doing
			c.User, _ = c.State.Account(i.Owner)
		}
		all = append(all, event{name: "installation", action: action, app: now.ID, body: object{"installation": v.installation(&now, i),
			"repositories": each(repos, func(r store.Repo) object {
				return object{"id": r.ID, "node_id": nodeID("Repository", r.ID), "name": r.Name, "full_name": r.FullName(), "private": !v.access.Public}
			})}})
	}
	for _, i := range now.Installations {
		before, there := was.InstalledOn(i.Owner)
		switch {
		case !there:
			add("created", i)
		case i.Suspended && !before.Suspended:
			add("suspend", i)
		case before.Suspended && !i.Suspended:
			add("unsuspend", i)
		}
	}
	for _, i := range was.Installations {
		if _, there := now.InstalledOn(i.Owner); !there {
			add("deleted", i)
		}
	}
	return all
}

// with returns the object with a field more.
func with(o object, field string, value any) object {
	more := object{field: value}
	maps.Copy(more, o)
	return more
}
