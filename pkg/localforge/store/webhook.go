package store

import (
	"slices"
	"strings"
	"time"
)

// Webhook is a webhook of a repository.
type Webhook struct {
	ID       int64     `json:"id"`
	URL      string    `json:"url"`
	Secret   string    `json:"secret,omitempty"`
	Insecure bool      `json:"insecure,omitempty"` // the receiver's certificate is not checked
	Events   []string  `json:"events"`             // * is all
	Active   bool      `json:"active"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Deleted  bool      `json:"deleted,omitempty"`
}

func (w Webhook) key() int64 { return w.ID }

// Hears reports whether the webhook gets the event.
func (w Webhook) Hears(event string) bool {
	return w.Active && !w.Deleted && (slices.Contains(w.Events, "*") || slices.Contains(w.Events, event))
}

// Hears reports whether the App's webhook gets the event. It always gets those of its
// installations.
func (a App) Hears(event string) bool {
	return a.Hook.Active && a.Hook.URL != "" && (strings.HasPrefix(event, "installation") || slices.Contains(a.Events, event))
}
