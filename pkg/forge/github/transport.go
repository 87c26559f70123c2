package github

import (
	"cmp"
	"crypto/sha256"
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
func newTransport(config Config, base http.RoundTripper, host string) http.RoundTripper {
	cache := &httpcache.Transport{
		Transport: base, Cache: newCache(cmp.Or(config.Cache, 64<<20)), MarkCachedResponses: true,
		CacheKey: cacheKey,
		ShouldCache: func(_ *http.Request, resp *http.Response, _ string) bool {
			return resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != ""
		},
	}
	limit := github_secondary_ratelimit.New(revalidate(cache),
		github_secondary_ratelimit.WithSingleSleepLimit(cmp.Or(config.MaxWait, 10*time.Second), nil))
	return follow(signIn(config, host, limit))
}

// signIn adds the token to requests to the configured host. A redirect to another host
// does not get it.
func signIn(config Config, host string, next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		token, err := config.token()
		if err != nil {
			return nil, err
		}
		if token != "" && r.URL.Host == host {
			r = r.Clone(r.Context())
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return next.RoundTrip(r)
	})
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

// cacheKey separates the answers to different tokens.
func cacheKey(r *http.Request) string {
	if r.Method != http.MethodGet {
		return ""
	}
	return fmt.Sprintf("%x %s %s", sha256.Sum256([]byte(r.Header.Get("Authorization"))), r.Header.Get("Accept"), r.URL)
}
