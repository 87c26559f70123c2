package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

var (
	// errGarbled marks an answer that breaks the provider's own form.
	errGarbled = errors.New("the answer is garbled")
	// errRefused marks an answer that the provider withholds.
	errRefused = errors.New("the provider's rules do not let the model answer")
	// errSilent is the cause of the end of a request whose answer stopped.
	errSilent = errors.New("nothing came")
)

// stated is an error that a provider states: the status and body of a refusal, or an event
// within an answer.
type stated struct {
	status     int // 0: within an answer
	kind, text string
	header     http.Header // of a refusal
}

func (e *stated) Error() string { return strings.TrimSpace(e.kind + ": " + e.text) }

// fault is why a request has no answer.
type fault struct {
	again bool          // the same request may have one later
	large bool          // a smaller one may
	after time.Duration // when, if the provider says so; 0: it does not
	err   error
}

// faultOf tells by type and status what an error means. Words decide nothing.
func (c Config) faultOf(ctx context.Context, err error) fault {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errSilent) {
		return fault{err: cause}
	} else if cause != nil {
		return fault{again: true, err: cause}
	}
	status, kind, text, header := details(err)
	if status == 0 && kind == "" {
		// No answer, or a broken one: the connection's fault.
		if at := (*url.Error)(nil); errors.As(err, &at) {
			err = at.Err
		}
		return fault{again: !errors.Is(err, errRefused), err: err}
	}
	said := strings.TrimSpace(strings.Join([]string{number(status), kind, text}, " "))
	f := fault{err: errors.New(said), after: retryAfter(header)}
	switch {
	case kind == "insufficient_quota" || kind == "billing_error" || status == http.StatusPaymentRequired:
		f.err = unusable(said, "pay for the account of this key, or give another key")
	case status == http.StatusUnauthorized || kind == "authentication_error":
		f.err = unusable(said, "give a valid key in "+c.variable("API_KEY"))
	case status == http.StatusForbidden || kind == "permission_error":
		f.err = unusable(said, "let this key use the model, or name another one")
	case status == http.StatusNotFound || kind == "not_found_error":
		f.err = unusable(said, "there is no model "+c.Name+" there: correct its name, or "+c.variable("BASE_URL"))
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= http.StatusInternalServerError, passing(kind):
		f.again = true
	default:
		f.large = status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
		f.err = unusable(said, "the provider does not take the request")
	}
	return f
}

// unusable is the error of a brain that people have to mend.
func unusable(said, remedy string) error {
	return fmt.Errorf("%w: %s: %s", brain.ErrUnusable, said, remedy)
}

// passing reports whether an error that an answer states is over by itself.
func passing(kind string) bool {
	switch kind {
	case "api_error", "overloaded_error", "rate_limit_error", "timeout_error", "server_error", "rate_limit_exceeded":
		return true
	}
	return false
}

// details returns what an error of a provider says.
func details(err error) (status int, kind, text string, header http.Header) {
	s := (*stated)(nil)
	if !errors.As(err, &s) {
		return 0, "", "", nil
	}
	if s.status == 0 {
		return 0, cmp.Or(s.kind, "server_error"), s.text, nil
	}
	return s.status, s.kind, s.text, s.header
}

func number(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status)
}

// retryAfter reads Retry-After, in seconds or as a time, and its form in milliseconds.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 && s < 1e8 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
