package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/hook"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// hookConfig is where a webhook delivers to, as REST has it.
func hookConfig(url, secret string, insecure bool) object {
	o := object{"url": url, "content_type": "json", "insecure_ssl": "0"}
	if insecure {
		o["insecure_ssl"] = "1"
	}
	if secret != "" {
		o["secret"] = "********"
	}
	return o
}

// getHook answers with where the App's webhook delivers to.
func getHook(c *call) (int, any, error) {
	w := c.Caller.App.Hook
	if !w.Active {
		return 0, nil, host.ErrNotFound
	}
	return http.StatusOK, hookConfig(w.URL, w.Secret, false), nil
}

// target finds the webhook that a request is about.
type target func(*call) (hook.Target, error)

// ofApp finds the webhook of the App that asks.
func ofApp(c *call) (hook.Target, error) {
	if !c.Caller.App.Hook.Active {
		return hook.Target{}, host.ErrNotFound
	}
	return appTarget(*c.Caller.App), nil
}

// ofRepo finds the webhook that the path names.
func ofRepo(c *call) (hook.Target, error) {
	w, err := c.webhook(c.Repo)
	return repoTarget(c.Repo, w), err
}

func (c *call) webhook(r store.Repo) (store.Webhook, error) {
	w, ok := r.Webhooks.Get(c.PathID("hook"))
	if !ok || w.Deleted {
		return store.Webhook{}, host.ErrNotFound
	}
	return w, nil
}

// listDeliveries answers with the attempts at deliveries, the newest first, in pages by
// cursor.
func listDeliveries(of target) handler {
	return func(c *call) (int, any, error) {
		to, err := of(c)
		if err != nil {
			return 0, nil, err
		}
		q := c.URL.Query()
		rows := c.server.teller.hooks.Attempts(to)
		if before, err := strconv.ParseInt(q.Get("cursor"), 10, 64); err == nil {
			rows = slices.DeleteFunc(rows, func(a hook.Attempt) bool { return a.ID >= before })
		}
		if per := number(q, "per_page", 30, 100); len(rows) > per {
			rows = rows[:per]
			q.Set("cursor", strconv.FormatInt(rows[per-1].ID, 10))
			c.header.Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, c.Links().API(), c.URL.EscapedPath(), q.Encode()))
		}
		return http.StatusOK, each(rows, attempt), nil
	}
}

func attempt(a hook.Attempt) object {
	id := func(n int64) any {
		if n == 0 {
			return nil
		}
		return n
	}
	return object{
		"id": a.ID, "guid": a.GUID, "delivered_at": a.At.Format(time.RFC3339), "redelivery": a.Redelivery, "duration": a.Took.Seconds(),
		"status": a.Status, "status_code": a.Code, "event": a.Event, "action": optional(a.Action),
		"installation_id": id(a.Installation), "repository_id": id(a.Repository), "throttled_at": nil,
	}
}

// getDelivery answers with one attempt, and with what was sent and answered.
func getDelivery(of target) handler {
	return func(c *call) (int, any, error) {
		to, err := of(c)
		if err != nil {
			return 0, nil, err
		}
		a, ok := c.server.teller.hooks.Attempt(to, c.PathID("delivery"))
		if !ok {
			return 0, nil, host.ErrNotFound
		}
		o := attempt(a)
		o["url"] = a.URL
		o["request"] = object{"headers": flat(a.Asked), "payload": json.RawMessage(a.Payload)}
		o["response"] = object{"headers": flat(a.Answered), "payload": optional(a.Answer)}
		return http.StatusOK, o, nil
	}
}

// flat returns the first value of each header.
func flat(h http.Header) object {
	o := object{}
	for name, values := range h {
		o[name] = values[0]
	}
	return o
}

// redeliver has what an attempt was at delivered once more.
func redeliver(of target) handler {
	return func(c *call) (int, any, error) {
		to, err := of(c)
		if err != nil {
			return 0, nil, err
		}
		if !c.server.teller.hooks.Again(to, c.PathID("delivery")) {
			return 0, nil, host.ErrNotFound
		}
		return http.StatusAccepted, object{}, nil
	}
}

func (v view) webhook(r store.Repo, w store.Webhook) object {
	api := fmt.Sprintf("%s/hooks/%d", v.RepoAPI(r), w.ID)
	return object{
		"type": "Repository", "id": w.ID, "name": "web", "active": w.Active, "events": w.Events, "config": hookConfig(w.URL, w.Secret, w.Insecure),
		"created_at": w.Created, "updated_at": w.Updated, "url": api, "test_url": api + "/test", "ping_url": api + "/pings",
		"deliveries_url": api + "/deliveries", "last_response": object{"code": nil, "status": "unused", "message": nil},
	}
}

func listWebhooks(c *call) (int, any, error) {
	v := c.view()
	rows := c.Repo.Webhooks.Where(func(w store.Webhook) bool { return !w.Deleted })
	return http.StatusOK, each(page(c, rows), func(w store.Webhook) object { return v.webhook(c.Repo, w) }), nil
}

func getWebhook(c *call) (int, any, error) {
	w, err := c.webhook(c.Repo)
	return http.StatusOK, c.view().webhook(c.Repo, w), err
}

// webhookEdit is a client's webhook, or change of one. A nil field stays as it was.
type webhookEdit struct {
	Events *[]string
	Active *bool
	Config *struct {
		URL, Secret *string
		Insecure    any     `json:"insecure_ssl"` // "1" or 1
		ContentType *string `json:"content_type"`
	}
}

func (e webhookEdit) apply(w store.Webhook) (store.Webhook, error) {
	w.Events, w.Active = deref(e.Events, w.Events), deref(e.Active, w.Active)
	if e.Config != nil {
		w.URL, w.Secret = deref(e.Config.URL, w.URL), deref(e.Config.Secret, w.Secret)
		if e.Config.Insecure != nil {
			w.Insecure = fmt.Sprint(e.Config.Insecure) == "1"
		}
		if kind := deref(e.Config.ContentType, "json"); kind != "json" {
			return w, refused("Hook", "content_type: this forge delivers json only, not "+kind)
		}
	}
	if u, err := url.Parse(w.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return w, refused("Hook", "Config url is missing a scheme or is no address: "+w.URL)
	}
	return w, nil
}

func createWebhook(c *call) (int, any, error) {
	var in webhookEdit
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	var made store.Webhook
	err := c.Change(func(t *store.Tx, r store.Repo) (err error) {
		made, err = in.apply(store.Webhook{Events: []string{"push"}, Active: true, Created: t.Now, Updated: t.Now})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.Webhooks, func(w store.Webhook) bool { return !w.Deleted && w.URL == made.URL }) {
			return refused("Hook", "Hook already exists on this repository")
		}
		made.ID = t.ID()
		t.Put(store.Entry{Repo: c.Name(), Webhook: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	c.ping(made)
	return http.StatusCreated, c.view().webhook(c.Repo, made), nil
}

func editWebhook(c *call) (int, any, error) {
	var in webhookEdit
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	w, err := c.changeWebhook(func(w store.Webhook) (store.Webhook, error) { return in.apply(w) })
	return http.StatusOK, c.view().webhook(c.Repo, w), err
}

func deleteWebhook(c *call) (int, any, error) {
	_, err := c.changeWebhook(func(w store.Webhook) (store.Webhook, error) { w.Deleted = true; return w, nil })
	return http.StatusNoContent, nil, err
}

func (c *call) changeWebhook(how func(store.Webhook) (store.Webhook, error)) (w store.Webhook, err error) {
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		if w, err = c.webhook(r); err != nil {
			return err
		}
		if w, err = how(w); err != nil {
			return err
		}
		w.Updated = t.Now
		t.Put(store.Entry{Repo: c.Name(), Webhook: &w})
		return nil
	})
	return w, err
}

func pingWebhook(c *call) (int, any, error) {
	w, err := c.webhook(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	c.ping(w)
	return http.StatusNoContent, nil, nil
}

// ping sends the webhook the event ping.
func (c *call) ping(w store.Webhook) {
	if !w.Active {
		return
	}
	e := event{name: "ping", body: object{"zen": "Keep it logically awesome.", "hook_id": w.ID, "hook": c.view().webhook(c.Repo, w)}}
	c.server.teller.hooks.Send(repoTarget(c.Repo, w), c.message(e, 0))
}
