package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	if transport, ok := errors.AsType[*url.Error](err); ok {
		err = transport.Err // the URL says nothing that is not said already
	}
	if errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrNotFound) {
		return err // the token could not be read, or a write would have left the server
	}
	if limit, ok := errors.AsType[*forge.RateLimit](err); ok {
		return limit
	}
	var refused *github.ErrorResponse
	if factor, ok := errors.AsType[*github.TwoFactorAuthError](err); ok {
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
	sentinel := forge.ErrInvalid
	switch status := refused.Response.StatusCode; {
	case status >= 500 || status < 400:
		sentinel = forge.ErrUnavailable
	case status == http.StatusNotFound || status == http.StatusGone:
		sentinel = forge.ErrNotFound
	case status == http.StatusUnauthorized:
		sentinel = forge.ErrUnauthenticated
	case status == http.StatusForbidden || status == http.StatusUnavailableForLegalReasons:
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
