package role

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/service"
)

func TestAWorkTreeThatIsRefusedIsLoggedAndCounted(t *testing.T) {
	var log bytes.Buffer
	h := &service.Host{Log: slog.New(slog.NewTextHandler(&log, nil)), Metrics: prometheus.NewRegistry()}
	tell := tellNotTaken(h, "developer")
	for range 2 {
		tell(&workspace.Refused{Rule: "git", Detail: ".git/refs is a link"})
	}
	want := `
# HELP signalbox_intake_refused_total Work trees that were not taken in after a program, by rule.
# TYPE signalbox_intake_refused_total counter
signalbox_intake_refused_total{role="developer",rule="disk"} 0
signalbox_intake_refused_total{role="developer",rule="files"} 0
signalbox_intake_refused_total{role="developer",rule="git"} 2
signalbox_intake_refused_total{role="developer",rule="memory"} 0
signalbox_intake_refused_total{role="developer",rule="pack"} 0
signalbox_intake_refused_total{role="developer",rule="processes"} 0
signalbox_intake_refused_total{role="developer",rule="size"} 0
signalbox_intake_refused_total{role="developer",rule="time"} 0
`
	if err := testutil.GatherAndCompare(h.Metrics, strings.NewReader(want), "signalbox_intake_refused_total"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `level=WARN msg="work tree refused" role=developer rule=git detail=".git/refs is a link"`) {
		t.Errorf("the log says:\n%s", log.String())
	}
}
