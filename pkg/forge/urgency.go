package forge

import "context"

// Urgency is what a request is for. When few requests are left of the forge's limit, the
// less urgent ones stop first.
type Urgency int

const (
	// Ordinary is the work of the roles.
	Ordinary Urgency = iota
	// Background finds out what has changed. It stops first.
	Background
	// Urgent is a merge, or a comment from or for people. It stops last.
	Urgent
)

type urgencyKey struct{}

// WithUrgency returns ctx for requests of this urgency.
func WithUrgency(ctx context.Context, u Urgency) context.Context {
	return context.WithValue(ctx, urgencyKey{}, u)
}

// UrgencyOf returns the urgency of requests with ctx.
func UrgencyOf(ctx context.Context) Urgency {
	u, _ := ctx.Value(urgencyKey{}).(Urgency)
	return u
}
