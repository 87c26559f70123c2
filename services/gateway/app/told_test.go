package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestWhatTheForgeDeliversIsHeardWithoutAPoll has the local forge deliver by itself.
func TestWhatTheForgeDeliversIsHeardWithoutAPoll(t *testing.T) {
	e := newEnv(t)
	h := e.hook(e.watched(e.poller()))
	told := make(chan int, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		w.WriteHeader(answer.Code)
		told <- answer.Code
	}))
	defer server.Close()
	e.forge.SetWebhook(server.URL, "s3cret")
	settle := func() {
		t.Helper()
		select {
		case status := <-told:
			if status != http.StatusAccepted {
				t.Fatalf("it is answered with %d", status)
			}
		case <-e.ctx.Done():
			t.Fatal("nothing was delivered")
		}
		h.settle()
	}
	issue := e.report(e.ann, "The sum is wrong")
	settle()
	e.say(e.ann, issue, "I see that, too.")
	settle()
	e.want(issue, "ann: I see that, too.")
	e.close(issue)
	settle()
	if in, err := e.client.Get(e.ctx, Name(widgets, issue)); err != nil || in.GetClosed() == "" {
		t.Errorf("it is %q, %v", in.GetClosed(), err)
	}
}
