package localforge_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// A browser sends the cookie of a session to every port of the machine. So it comes to another
// user who serves one, and that user sends it to the forge.
func TestASessionIsNoUseToAnotherUserOfTheMachine(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root opens connections as another user")
	}
	w := newEnv(t)
	as := func(user int) *http.Client {
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			runtime.LockOSThread() // the thread ends with the goroutine
			if err := syscall.Setfsuid(user); err != nil {
				return nil, err
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		return &http.Client{Transport: &http.Transport{DialContext: dial}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	ask := func(user int, method, path string, with ...*http.Cookie) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, nil)
		must(t, err)
		for _, c := range with {
			r.AddCookie(c)
		}
		resp, err := as(user).Do(r)
		must(t, err)
		must(t, resp.Body.Close())
		return resp
	}
	const ann, mallory = 20001, 20002
	link := w.SignInLink(adaToken)
	if resp := ask(mallory, http.MethodHead, link); len(resp.Cookies()) != 0 {
		t.Errorf("looking at the link signs in: %v", resp.Cookies())
	}
	resp := ask(ann, http.MethodGet, link)
	if len(resp.Cookies()) != 1 {
		t.Fatalf("the link answers %d", resp.StatusCode)
	}
	for user, want := range map[int]int{ann: http.StatusOK, mallory: http.StatusUnauthorized, 0: http.StatusUnauthorized} {
		if got := ask(user, http.MethodGet, "/"+full, resp.Cookies()[0]).StatusCode; got != want {
			t.Errorf("with the session of user %d, user %d gets %d, want %d", ann, user, got, want)
		}
	}
}
