package engine

import (
	"context"
	"regexp"
)

type traceKey struct{}

// traceparent is the header of W3C Trace Context, level 1, version 00.
var traceparent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// WithTrace has the commits made under ctx carry the W3C traceparent. An invalid
// one is dropped: a sender's tracing is no reason to refuse its command.
func WithTrace(ctx context.Context, parent string) context.Context {
	if !traceparent.MatchString(parent) {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, parent)
}

func trace(ctx context.Context) string {
	parent, _ := ctx.Value(traceKey{}).(string)
	return parent
}
