package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gohugoio/httpcache"
)

// roundTrip is a function as a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newTransport stacks the transports of every request, outermost first. They follow
// redirects of writes, add the token, share answers of equal reads, keep within the limits,
// revalidate cached answers, cache.
func newTransport(config Config, base http.RoundTripper, host string, c *Client) http.RoundTripper {
	cache := &httpcache.Transport{
		Transport: base, Cache: newCache(cmp.Or(config.Cache, 64<<20)), MarkCachedResponses: true,
		CacheKey: cacheKey,
		ShouldCache: func(_ *http.Request, resp *http.Response, _ string) bool {
			return resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != ""
		},
	}
	reads := &coalescer{reads: map[readKey]turns{}}
	sent := c.limiter.around(revalidate(cache))
	return follow(signIn(c, host, reads.around(sent, func(r *http.Request) { c.limiter.countResult(sendingOf(r), wasShared) })))
}

// signIn adds the token to requests to the configured host. A redirect to another host does
// not get it. The cache of a refused token is dropped. A request is sent once
// more with another one, if there is: the refused one had no effect.
func signIn(c *Client, host string, next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != host {
			return next.RoundTrip(r)
		}
		owner, repo := subject(r)
		for sent := ""; ; {
			got, err := c.credentials.of(r.Context(), owner, repo)
			if err != nil {
				return nil, err
			}
			resp, err := next.RoundTrip(withToken(r, got))
			if err != nil || resp.StatusCode != http.StatusUnauthorized {
				return resp, err
			}
			c.credentials.refused(got)
			c.accounts.forget(got.holder)
			another, err := c.credentials.of(r.Context(), owner, repo)
			if errors.Is(err, errNotInstalled) { // any more
				_ = resp.Body.Close()
				return nil, err
			}
			if err != nil || sent != "" || another.token == got.token || r.Body != nil && r.GetBody == nil {
				return resp, nil
			}
			sent = got.token
			_ = resp.Body.Close()
		}
	})
}

// withToken returns the request with the token, and with whom that stands for.
func withToken(r *http.Request, c credential) *http.Request {
	if c.token == "" {
		return r
	}
	r = r.Clone(context.WithValue(r.Context(), holderKey{}, c.holder))
	r.Header.Set("Authorization", "Bearer "+c.token)
	return r
}

// revalidate makes the cache ask GitHub about every cached answer, even within its
// lifetime: a comment of this second matters.
func revalidate(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			r = r.Clone(r.Context())
			r.Header.Set("Cache-Control", "max-age=0")
		}
		return next.RoundTrip(r)
	})
}

// cacheKey separates the answers to different holders of tokens.
func cacheKey(r *http.Request) string {
	if r.Method != http.MethodGet {
		return ""
	}
	return fmt.Sprintf("%s %s %s", holder(r), r.Header.Get("Accept"), r.URL)
}
