package service

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestConditionsThatWaitEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Health
		wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		h.Check("log", wait)
		h.Check("settings", wait)
		h.Warn("storage", wait)
		h.Check("nats", func(context.Context) error { return errors.New("the connection is RECONNECTING") })
		began := time.Now()
		r := h.Ready(t.Context())
		if took := time.Since(began); took != conditionLimit || len(r.Reasons) != 3 || len(r.Warnings) != 1 || r.Reasons["nats"] != "the connection is RECONNECTING" {
			t.Errorf("after %s: %+v", took, r)
		}
	})
}

func TestAConditionThatHeedsNoTimeIsAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Health
		locked := make(chan struct{})
		h.Check("nats", func(context.Context) error { <-locked; return nil })
		began := time.Now()
		if r, took := h.Ready(t.Context()), time.Since(began); took != answerLimit || r.Reasons["nats"] != "no answer in 2.5s" {
			t.Errorf("after %s: %+v", took, r)
		}
		close(locked)
	})
}

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
