package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Reach reads each repository. The error is one of package forge; its text names the flag
// that is wrong, and what would be right. A spent rate limit is no error: the rest is right.
func (f Flags) Reach(ctx context.Context, repos []string) error {
	client, err := f.Client()
	if err != nil {
		return fmt.Errorf("--forge-url: %w", err)
	}
	f, err = f.settled()
	if err != nil {
		return err
	}
	for _, repo := range repos {
		_, err := client.Repository(ctx, repo)
		switch {
		case err == nil, errors.Is(err, forge.ErrRateLimited):
		case errors.Is(err, forge.ErrInvalid):
			return fmt.Errorf("--repo %s: %w: want OWNER/NAME%s", repo, forge.ErrInvalid, meant(repo))
		case errors.Is(err, forge.ErrDenied):
			return fmt.Errorf("%s: %w; want one that may read and write %s", f.origin(), err, repo)
		case errors.Is(err, forge.ErrNotFound):
			return fmt.Errorf("--repo %s: %w at %s; want the OWNER/NAME of a repository there that %s may see", repo, err, f.host(), f.reader())
		case errors.Is(err, forge.ErrUnavailable):
			return fmt.Errorf("--forge-url %s: %w; want the address of its REST API, such as https://api.github.com/", f.host(), err)
		default:
			return err
		}
	}
	return nil
}

// Now returns the time of the forge, of its answer to an unsigned request, to the second.
func (f Flags) Now(ctx context.Context) (time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, cmp.Or(f.URL, "https://"+publicHost+"/"), nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", forge.ErrInvalid, err)
	}
	answer, err := (&http.Client{Timeout: requestTimeout}).Do(request)
	if err != nil {
		return time.Time{}, explain(ctx, "read the time", err)
	}
	_ = answer.Body.Close()
	at, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return at, fmt.Errorf("github: the answer has no time: %w", err)
	}
	return at, nil
}

// origin returns the flag that the token comes from.
func (f Flags) origin() string {
	switch {
	case f.TokenFile != "":
		return "--forge-token-file " + f.TokenFile
	case f.given():
		return "--forge-app-id " + strconv.FormatInt(f.ID, 10)
	case f.Token != "":
		return "--forge-token"
	}
	return "no token"
}

// reader returns what repositories are read with.
func (f Flags) reader() string {
	switch {
	case f.given():
		return "the App"
	case f.TokenFile == "" && f.Token == "":
		return "everybody"
	}
	return "the token"
}

// host returns the address of the forge without credentials.
func (f Flags) host() string {
	u, err := url.Parse(cmp.Or(f.address(), "https://"+publicHost+"/"))
	if err != nil {
		return "the forge"
	}
	return u.Scheme + "://" + u.Host
}

// meant returns a hint at the name that a wrong one probably stands for.
func meant(repo string) string {
	if info, err := os.Stat(repo); err == nil && info.IsDir() {
		return "; a directory needs no --forge-url: a local forge serves it"
	}
	u, err := url.Parse(repo)
	if err != nil {
		return ""
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/")
	if n := len(parts); n >= 2 && repoPattern.MatchString(parts[n-2]+"/"+parts[n-1]) {
		return "; did you mean " + parts[n-2] + "/" + parts[n-1] + "?"
	}
	return ""
}
