package github

import (
	"fmt"
	"net/http"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

// maxRedirects is how many redirects of one write are followed.
const maxRedirects = 5

// follow follows redirects of writes with the same method and body, within the same host.
// The client of net/http would repeat them as GET after a 301, without any effect.
func follow(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return resp, err
		}
		for range maxRedirects {
			if err != nil || !moved(resp.StatusCode) || resp.Header.Get("Location") == "" {
				return resp, err
			}
			if r, err = again(r, resp); err != nil {
				return nil, err
			}
			resp, err = next.RoundTrip(r)
		}
		if err == nil && moved(resp.StatusCode) {
			_ = resp.Body.Close()
			return nil, fmt.Errorf("%w: more than %d redirects", forge.ErrUnavailable, maxRedirects)
		}
		return resp, err
	})
}

func moved(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
}

// again returns the request for the place that the answer names, and closes the answer.
// The number of another issue is ErrNotFound: the issue was transferred.
func again(r *http.Request, resp *http.Response) (*http.Request, error) {
	_ = resp.Body.Close()
	to, err := r.URL.Parse(resp.Header.Get("Location"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: redirect: %w", forge.ErrUnavailable, err)
	case to.Host != r.URL.Host || to.Scheme != r.URL.Scheme:
		return nil, fmt.Errorf("%w: a write is redirected to another server, %s", forge.ErrDenied, to.Host)
	case issueNumber(to.Path) != issueNumber(r.URL.Path):
		return nil, fmt.Errorf("%w: the issue was transferred to %s", forge.ErrNotFound, to.Path)
	}
	r = r.Clone(r.Context())
	r.URL, r.Host, r.Response = to, "", resp
	if r.GetBody != nil {
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

var numbered = lazyregexp.New(`^(?:/api/v3)?/(?:repos/[^/]+/[^/]+|repositories/\d+)/issues/(\d+)(?:/|$)`)

// issueNumber returns the number of the issue that a path names, "" if it names none.
func issueNumber(path string) string {
	if found := numbered.FindStringSubmatch(path); found != nil {
		return found[1]
	}
	return ""
}
