package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestWhatTheLocalForgeCouldNotDeliverIsDeliveredAgain(t *testing.T) {
	private, key := newKey(t)
	var status atomic.Int64
	status.Store(http.StatusServiceUnavailable)
	got := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(int(status.Load()))
		got <- r.Header.Get("X-GitHub-Event") + " " + r.Header.Get("X-GitHub-Delivery")
	}))
	t.Cleanup(receiver.Close)
	w := newEnv(t, func(c *localforge.Config) {
		c.Apps = []localforge.App{{ID: 7, Slug: "box", Key: &private.PublicKey, Permission: "write", Events: []string{"issues"},
			Installations: []localforge.Installation{{ID: 70, Owner: "acme"}}, Hook: localforge.Hook{URL: receiver.URL, Active: true, Secret: "s"}}}
		c.Now = nil // a JSON web token has the time of the day
	})
	c, err := github.New(github.Config{BaseURL: w.url, App: github.App{ID: 7, Key: key}})
	must(t, err)
	_, err = w.client(t, "ada-token").CreateIssue(t.Context(), repo, forge.NewIssue{Title: "x"})
	must(t, err)
	first := <-got
	var rows []github.HookDelivery
	for len(rows) == 0 { // it is listed once it is answered
		rows, err = c.Deliveries(t.Context(), time.Now().Add(-time.Hour), 10)
		must(t, err)
	}
	if d := rows[0]; d.Arrived() || d.StatusCode != http.StatusServiceUnavailable || d.Event != "issues" || d.Action != "opened" {
		t.Fatalf("listed is %+v", d)
	}
	status.Store(http.StatusAccepted)
	must(t, c.Redeliver(t.Context(), rows[0].ID))
	if again := <-got; again != first {
		t.Errorf("delivered is %s, after %s", again, first)
	}
	if err := c.Redeliver(t.Context(), 1); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("one that there is not: %v", err)
	}
}

func TestDeliveriesAreReadToTheirTimeAndDeliveredAgain(t *testing.T) {
	var asked []string
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		page := func(id int, day string) {
			_, _ = fmt.Fprintf(w, `[{"id":%d,"guid":"g%d","delivered_at":"2026-03-%sT12:00:00Z","redelivery":false,"status":"OK","status_code":200,"event":"issues","action":null}]`, id, id, day)
		}
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v3/app/hook/deliveries/3/attempts":
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(`{}`))
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"message":"too old"}`))
		case r.URL.Query().Get("cursor") == "":
			w.Header().Set("Link", `<`+server.URL+`/api/v3/app/hook/deliveries?per_page=100&cursor=v1_2>; rel="next"`)
			page(3, "03")
		case r.URL.Query().Get("cursor") == "v1_2":
			w.Header().Set("Link", `<`+server.URL+`/api/v3/app/hook/deliveries?cursor=v1_1&per_page=100>; rel="next"`)
			page(2, "02")
		default:
			page(1, "01")
		}
	}))
	t.Cleanup(server.Close)
	_, key := newKey(t)
	client, err := github.New(github.Config{BaseURL: server.URL, App: github.App{ID: 7, Key: key}})
	must(t, err)
	for day, want := range map[int]int{1: 3, 2: 2, 3: 1} {
		rows, err := client.Deliveries(t.Context(), time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC), 10)
		if err != nil || len(rows) != want || rows[0].ID != 3 || !rows[0].Arrived() {
			t.Errorf("since day %d: %+v, %v", day, rows, err)
		}
	}
	if rows, err := client.Deliveries(t.Context(), time.Time{}, 2); err != nil || len(rows) != 2 {
		t.Errorf("two of them: %+v, %v", rows, err)
	}
	must(t, client.Redeliver(t.Context(), 3))
	if err := client.Redeliver(t.Context(), 1); !errors.Is(err, forge.ErrInvalid) {
		t.Errorf("an old one: %v", err)
	}
	token, err := github.New(github.Config{BaseURL: server.URL, Token: "t"})
	must(t, err)
	if _, err := token.Deliveries(t.Context(), time.Time{}, 1); !errors.Is(err, github.ErrNoApp) {
		t.Errorf("with a token: %v", err)
	}
}
