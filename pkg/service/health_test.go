package service

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAWarningLeavesAServiceReady(t *testing.T) {
	h := new(Health)
	h.Check("own", func(context.Context) error { return nil })
	var fault error
	h.Warn("forge", func(context.Context) error { return fault })
	answer := func() (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, text := answer(); code != http.StatusOK || text != `{"ready":true}` {
		t.Errorf("without a fault it answers %d %s", code, text)
	}
	fault = errors.New("it does not answer")
	if code, text := answer(); code != http.StatusOK || text != `{"ready":true,"warnings":{"forge":"it does not answer"}}` {
		t.Errorf("with a fault elsewhere it answers %d %s", code, text)
	}
}
