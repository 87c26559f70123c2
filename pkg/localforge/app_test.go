package localforge_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/signalbox/signalbox/pkg/localforge"
)

// signed returns the JSON web token of an App.
func (e *env) signed(t *testing.T, key *rsa.PrivateKey, issuer string, from, life time.Duration) string {
	t.Helper()
	now := e.clock.Now()
	token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: issuer, IssuedAt: jwt.NewNumericDate(now.Add(from)), ExpiresAt: jwt.NewNumericDate(now.Add(from + life)),
	}).SignedString(key)
	must(t, err)
	return token
}

func TestAnAppSignsForATokenOfAnHour(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	w := newEnv(t, func(c *localforge.Config) {
		c.Apps = []localforge.App{{ID: 7, Slug: "box", Key: &key.PublicKey, Permission: "write", Installations: []localforge.Installation{{ID: 70, Owner: owner}}}}
	})
	must(t, w.CreateRepo(t.Context(), "other/things", ""))
	signed := func(issuer string, from, life time.Duration) string { return w.signed(t, key, issuer, from, life) }
	status := func(method, path, token string) int {
		resp, _ := w.ask(t, method, path, token, "")
		return resp.StatusCode
	}
	app := signed("7", -time.Minute, 5*time.Minute)
	for what, token := range map[string]string{
		"another App": signed("8", -time.Minute, 5*time.Minute), "a token for an hour": signed("7", -time.Minute, time.Hour),
		"one of the past": signed("7", -time.Hour, 5*time.Minute), "one of the future": signed("7", time.Minute, 5*time.Minute),
		"a person": adaToken, "nobody": "",
	} {
		if got := status("GET", "/app", token); got != http.StatusUnauthorized {
			t.Errorf("/app for %s: %d", what, got)
		}
	}
	for path, want := range map[string]int{
		"/app": 200, "/app/installations": 200, "/app/installations/70": 200, "/app/installations/71": 404, "/repos/acme/widgets/installation": 200,
		"/orgs/acme/installation": 200, "/repos/other/things/installation": 404, "/user": 401, "/repos/acme/widgets": 404,
	} {
		if got := status("GET", path, app); got != want {
			t.Errorf("%s for the App: %d, want %d", path, got, want)
		}
	}
	resp, body := w.ask(t, "POST", "/app/installations/70/access_tokens", app, "")
	var made struct {
		Token   string
		Expires time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	for path, want := range map[string]int{
		"/user": 403, "/installation/repositories": 200, "/repos/acme/widgets": 200, "/repos/other/things": 404, "/app": 401, "/users/box[bot]": 200,
	} {
		if got := status("GET", path, made.Token); got != want {
			t.Errorf("%s for the installation: %d, want %d", path, got, want)
		}
	}
	w.clock.now = made.Expires
	if got := status("GET", "/repos/acme/widgets", made.Token); got != http.StatusUnauthorized {
		t.Errorf("after its hour: %d", got)
	}
}
