package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// explain turns an error of go-github into one of package forge, with GitHub's text.
func explain(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("github: %s: %w", what, classify(ctx, err))
}

func classify(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var transport *url.Error
	if errors.As(err, &transport) {
		err = transport.Err // the URL says nothing that is not said already
	}
	if errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrNotFound) {
		return err // the token could not be read, or a write would have left the server
	}
	var primary *github.RateLimitError
	if errors.As(err, &primary) {
		return &forge.RateLimit{Until: primary.Rate.Reset.Time, Message: primary.Message}
	}
	var secondary *github.AbuseRateLimitError
	if errors.As(err, &secondary) {
		limit := &forge.RateLimit{Message: secondary.Message}
		if secondary.RetryAfter != nil {
			limit.Until = time.Now().Add(*secondary.RetryAfter)
		}
		return limit
	}
	var refused *github.ErrorResponse
	var factor *github.TwoFactorAuthError
	if errors.As(err, &factor) {
		refused = (*github.ErrorResponse)(factor)
	}
	if (refused != nil || errors.As(err, &refused)) && refused.Response != nil {
		return classifyResponse(refused)
	}
	if errors.Is(err, forge.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", forge.ErrUnavailable, err)
}

func classifyResponse(refused *github.ErrorResponse) error {
	if limit := limited(refused); limit != nil {
		return limit
	}
	sentinel := forge.ErrInvalid
	switch status := refused.Response.StatusCode; {
	case status >= 500 || status < 400:
		sentinel = forge.ErrUnavailable
	case status == http.StatusNotFound || status == http.StatusGone:
		sentinel = forge.ErrNotFound
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusUnavailableForLegalReasons:
		sentinel = forge.ErrDenied
	}
	return fmt.Errorf("%w: %s", sentinel, words(refused))
}

// words returns GitHub's text: the status, the message and every single error.
func words(refused *github.ErrorResponse) string {
	said := []string{strconv.Itoa(refused.Response.StatusCode)}
	if refused.Message != "" {
		said = append(said, refused.Message)
	} else {
		said = append(said, http.StatusText(refused.Response.StatusCode))
	}
	for _, e := range refused.Errors {
		if e.Message != "" {
			said = append(said, "("+e.Message+")")
		} else {
			said = append(said, fmt.Sprintf("(%s %s of %s)", e.Code, e.Field, e.Resource))
		}
	}
	return strings.Join(said, " ")
}

// limited recognises the rate limits that go-github does not: a 429, and a secondary limit
// without the link to its documentation.
func limited(refused *github.ErrorResponse) error {
	header, status := refused.Response.Header, refused.Response.StatusCode
	if status != http.StatusForbidden && status != http.StatusTooManyRequests {
		return nil
	}
	after, err := strconv.Atoi(header.Get("Retry-After"))
	spent := header.Get("X-RateLimit-Remaining") == "0"
	if err != nil && !spent && status != http.StatusTooManyRequests && !strings.Contains(strings.ToLower(refused.Message), "rate limit") {
		return nil
	}
	// GitHub asks for at least a minute if it names no time.
	limit := &forge.RateLimit{Until: time.Now().Add(time.Minute), Message: words(refused)}
	reset, noReset := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	switch {
	case err == nil:
		limit.Until = time.Now().Add(time.Duration(after) * time.Second)
	case spent && noReset == nil:
		limit.Until = time.Unix(reset, 0)
	}
	return limit
}
