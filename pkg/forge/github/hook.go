package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

// HookConfig is where the App's webhook delivers to.
type HookConfig struct {
	URL         string
	ContentType string `json:"content_type"`
	Insecure    any    `json:"insecure_ssl"` // "0", or 0: certificates are checked
	Secret      string // asterisks, if there is one
}

// HookDelivery is one attempt at a delivery of the App's webhook.
type HookDelivery struct {
	ID         int64     // of the attempt
	GUID       string    // of the delivery, the same for each attempt
	At         time.Time `json:"delivered_at"`
	Redelivery bool
	Status     string
	StatusCode int `json:"status_code"`
	Event      string
	Action     string
}

// Arrived reports whether it was taken.
func (d HookDelivery) Arrived() bool { return d.StatusCode >= 200 && d.StatusCode < 300 }

// Hook returns the configuration of the App's webhook. The URL is "" for none.
func (c *Client) Hook(ctx context.Context) (HookConfig, error) {
	var hook HookConfig
	err := c.asApp(ctx, "/app/hook/config", &hook)
	if errors.Is(err, forge.ErrNotFound) {
		return hook, nil
	}
	return hook, err
}

// Deliveries returns the attempts at deliveries since then, the newest first, and at most
// most of them.
func (c *Client) Deliveries(ctx context.Context, since time.Time, most int) ([]HookDelivery, error) {
	var all []HookDelivery
	for path := "/app/hook/deliveries?per_page=100"; path != ""; {
		var rows []HookDelivery
		header, err := c.ask(ctx, http.MethodGet, path, &rows)
		if errors.Is(err, forge.ErrNotFound) {
			return nil, nil // there is no webhook
		}
		if err != nil {
			return all, err
		}
		for _, row := range rows {
			if row.At.Before(since) || len(all) == most {
				return all, nil
			}
			all = append(all, row)
		}
		path = ""
		if next := nextCursor.FindStringSubmatch(header.Get("Link")); next != nil && len(rows) > 0 {
			path = "/app/hook/deliveries?per_page=100&cursor=" + url.QueryEscape(next[1])
		}
	}
	return all, nil
}

// nextCursor matches the cursor of the next page in a Link header.
var nextCursor = lazyregexp.New(`<[^>]*[?&]cursor=([^&>]+)[^>]*>;\s*rel="next"`)

// Redeliver has the forge deliver once more what the attempt was at.
func (c *Client) Redeliver(ctx context.Context, attempt int64) error {
	_, err := c.ask(ctx, http.MethodPost, fmt.Sprintf("/app/hook/deliveries/%d/attempts", attempt), new(any))
	return err
}

// asApp reads something as the App itself.
func (c *Client) asApp(ctx context.Context, path string, into any) error {
	_, err := c.ask(ctx, http.MethodGet, path, into)
	return err
}

// ask requests something as the App itself. It returns the header of the answer, or
// ErrNoApp.
func (c *Client) ask(ctx context.Context, method, path string, into any) (http.Header, error) {
	app, ok := c.credentials.(*installations)
	if !ok {
		return nil, ErrNoApp
	}
	app.mu.Lock()
	defer app.mu.Unlock()
	if err := app.renew(app.app, app.url, app.base); err != nil {
		return nil, err
	}
	return app.ask(ctx, method, path, into)
}
