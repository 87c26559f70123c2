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

// newTransport stacks what every request goes through, outermost first: sign
// in, wait out short limits, ask for confirmation of what is cached, cache.
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
	return signIn(config, host, limit)
}

// signIn adds the token, and only for the configured host: a redirect
// elsewhere does not take it along.
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

// revalidate has GitHub asked about everything that is cached, however fresh
// GitHub said it would stay: a comment of this second matters. It also rewinds
// the body, since the limiter above sends a request again.
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

// drained is read to its end when it is closed: go-github stops at the end of
// the JSON, and what is not read to the end is not cached.
type drained struct {
	io.ReadCloser
	over bool // the cache takes a second end for another, empty answer
}

func (d *drained) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.over = d.over || err != nil
	return n, err
}

// rest is the most that is read on closing, in bytes: there is next to nothing.
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

// cacheKey keeps what different tokens may see apart.
func cacheKey(r *http.Request) string {
	if r.Method != http.MethodGet {
		return ""
	}
	return fmt.Sprintf("%x %s %s", sha256.Sum256([]byte(r.Header.Get("Authorization"))), r.Header.Get("Accept"), r.URL)
}
