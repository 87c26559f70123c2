package github

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/forge"
)

func TestAFaultOfTheForgeIsNamedByItsKind(t *testing.T) {
	for _, c := range []struct {
		name, reason, up, result string
		status                   int   // of the answer; 0: there is none
		fault                    error // nil: none
	}{
		{name: "no fault", status: http.StatusOK, up: "1", result: "counted"},
		{name: "an issue that is not there", status: http.StatusNotFound, up: "1", result: "counted"},
		{name: "an error of its own", status: http.StatusBadGateway, reason: "error", up: "0", result: "error", fault: forge.ErrUnavailable},
		{name: "a token that has expired", status: http.StatusUnauthorized, reason: "denied", up: "0", result: "denied", fault: forge.ErrUnauthenticated},
		{name: "no answer", reason: "silent", up: "0", result: "silent", fault: forge.ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{reply: func(_ int, w *httptest.ResponseRecorder, _ *http.Request) {
					if c.status > 0 {
						w.WriteHeader(c.status)
					}
				}}
				if c.status == 0 {
					s.lose = func(*http.Request, *http.Response) error { return errors.New("connection refused") }
				}
				client := s.client(t, Config{Token: "x"})
				_, _ = client.Issue(t.Context(), place, 7)
				if err := client.Fault(); !errors.Is(err, c.fault) || (err == nil) != (c.fault == nil) {
					t.Errorf("the fault is %v, want %v", err, c.fault)
				}
				registry := prometheus.NewRegistry()
				if err := client.Register(registry); err != nil {
					t.Fatal(err)
				}
				if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP signalbox_forge_up 1 if the forge answered the newest request; 0 if not, by reason: denied, error or silent.
# TYPE signalbox_forge_up gauge
signalbox_forge_up{reason="`+c.reason+`"} `+c.up+"\n"), "signalbox_forge_up"); err != nil {
					t.Error(err)
				}
				if n := client.limiter.sums()[count{"read", c.result}]; n == 0 {
					t.Errorf("no request is counted as %s: %v", c.result, client.limiter.sums())
				}
			})
		})
	}
}
