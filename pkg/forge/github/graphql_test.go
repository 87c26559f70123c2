package github_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// TestGraphQLRefusalsAreClassified: they come with a 200.
func TestGraphQLRefusalsAreClassified(t *testing.T) {
	reset := map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"}
	for _, tc := range []struct {
		what   string
		header map[string]string
		body   string
		want   error
		text   string
	}{
		{"not found", nil, `{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","message":"Could not resolve"}]}`, forge.ErrNotFound, "Could not resolve"},
		{"forbidden", nil, `{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`, forge.ErrDenied, "Resource not accessible"},
		{"a missing scope", nil, `{"errors":[{"type":"INSUFFICIENT_SCOPES","message":"Your token"}]}`, forge.ErrDenied, "Your token"},
		{"a limit", reset, `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, forge.ErrRateLimited, "2100-01-01"},
		{"a query that is none", nil, `{"errors":[{"message":"Field 'x' doesn't exist","extensions":{"code":"undefinedField"}}]}`, forge.ErrInvalid, "Field 'x'"},
		{"a timeout", nil, `{"data":null,"errors":[{"message":"Something went wrong while executing your query"}]}`, forge.ErrUnavailable, "Something went wrong"},
		{"part of an answer", nil, `{"data":{"repository":{"pullRequest":{"reviewDecision":"APPROVED"}}},"errors":[{"message":"timeout"},{"message":"again"}]}`, forge.ErrUnavailable, "timeout; again"},
		{"no answer", nil, `{}`, forge.ErrUnavailable, ""},
		{"an answer of another shape", nil, `{"data":[]}`, forge.ErrUnavailable, ""},
	} {
		t.Run(tc.what, func(t *testing.T) {
			_, err := answering(t, 200, tc.header, tc.body).ReviewState(t.Context(), repo, 1)
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("err = %v, want %v with %q", err, tc.want, tc.text)
			}
		})
	}
	_, err := answering(t, 200, nil, `{"errors":[{"type":"RATE_LIMITED"}]}`).ReviewState(t.Context(), repo, 1)
	var limit *forge.RateLimit
	if !errors.As(err, &limit) || time.Until(limit.Until) <= 0 {
		t.Errorf("a limit that names no end: %v", err)
	}
}

func TestWhereGraphQLGoes(t *testing.T) {
	for base, want := range map[string]string{
		"":                           "https://api.github.com/graphql",
		"https://github.example.com": "https://github.example.com/api/graphql",
	} {
		asked := ""
		transport := transportFunc(func(r *http.Request) (*http.Response, error) {
			asked = r.Method + " " + r.URL.String()
			return nil, errors.New("no network")
		})
		c, err := github.New(github.Config{BaseURL: base, HTTPClient: &http.Client{Transport: transport}})
		must(t, err)
		if _, err := c.ReviewState(t.Context(), repo, 1); !errors.Is(err, forge.ErrUnavailable) || asked != "POST "+want {
			t.Errorf("%q asks %s, want %s (%v)", base, asked, want, err)
		}
	}
}

// TestAppIsKnownByGraphQL: REST does not tell an installation who it is.
func TestAppIsKnownByGraphQL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/graphql" {
			_, _ = w.Write([]byte(`{"data":{"viewer":{"login":"signalbox[bot]","databaseId":7}}}`))
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message":"Resource not accessible by integration"}`))
	}))
	defer server.Close()
	c, err := github.New(github.Config{BaseURL: server.URL, Token: "s3cret"})
	must(t, err)
	if got, err := c.Account(t.Context()); err != nil || got != (forge.User{ID: 7, Login: "signalbox[bot]", Bot: true}) {
		t.Errorf("account = %+v, %v", got, err)
	}
	if got, err := c.Self(t.Context()); err != nil || got != "signalbox[bot]" {
		t.Errorf("self = %q, %v", got, err)
	}
}
