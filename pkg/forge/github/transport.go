package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gofri/go-github-ratelimit/v2/github_ratelimit/github_secondary_ratelimit"
	"github.com/gohugoio/httpcache"
)

// roundTrip is a function as a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newTransport stacks the transports of every request, outermost first: follow redirects of
// writes, add the token, wait out short limits, revalidate cached answers, cache.
func newTransport(config Config, base http.RoundTripper, host string, c *Client) http.RoundTripper {
	cache := &httpcache.Transport{
		Transport: base, Cache: newCache(cmp.Or(config.Cache, 64<<20)), MarkCachedResponses: true,
		CacheKey: cacheKey,
		ShouldCache: func(_ *http.Request, resp *http.Response, _ string) bool {
			return resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != ""
		},
	}
	limit := github_secondary_ratelimit.New(revalidate(cache),
		github_secondary_ratelimit.WithSingleSleepLimit(cmp.Or(config.MaxWait, 10*time.Second), nil))
	return follow(signIn(c, host, limit))
}

// holderKey is the key of whom the token of a request stands for.
type holderKey struct{}

// signIn adds the token to requests to the configured host. A redirect to another host
// does not get it. What is kept of a token that is refused is dropped; a request is sent
// once more with another one, if there is: the refused one had no effect.
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
// lifetime: a comment of this second matters. It also rewinds the body, since the limiter
// above it repeats requests.
func revalidate(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		if r.Method == http.MethodGet {
			r.Header.Set("Cache-Control", "max-age=0")
		}
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			r.Body = body
		}
		resp, err := next.RoundTrip(r)
		if err == nil && resp.Body != nil {
			resp.Body = &drained{ReadCloser: resp.Body}
		}
		return resp, err
	})
}

// drained reads the body to its end when it is closed. go-github stops at the end of the
// JSON, and the cache keeps only bodies that were read completely.
type drained struct {
	io.ReadCloser
	over bool // the cache takes a second end for another, empty answer
}

func (d *drained) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.over = d.over || err != nil
	return n, err
}

// rest is how many bytes are read on closing at most.
const rest = 4 << 10

func (d *drained) Close() error {
	var err error
	if !d.over {
		_, err = io.CopyN(io.Discard, d, rest)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, d.ReadCloser.Close())
}

// cacheKey separates the answers to different holders of tokens.
func cacheKey(r *http.Request) string {
	if r.Method != http.MethodGet {
		return ""
	}
	holder, _ := r.Context().Value(holderKey{}).(string)
	return fmt.Sprintf("%s %s %s", holder, r.Header.Get("Accept"), r.URL)
}
