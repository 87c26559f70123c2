package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

func TestATextOfOthersIsNoFormulaInASpreadsheet(t *testing.T) {
	for reason, want := range map[string]string{"": "", "a = b": "a = b", "=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "-2": "'-2", "two\nlines, \"quoted\"": "two\nlines, \"quoted\""} {
		var text bytes.Buffer
		write, flush, err := csvLines(bufio.NewWriter(&text))
		must(t, err)
		must(t, write(view.Event{Seq: 7, Event: "noted", Reason: reason}))
		must(t, flush())
		rows, err := csv.NewReader(&text).ReadAll()
		if err != nil || len(rows) != 2 || len(rows[1]) != len(columns) || rows[1][len(columns)-1] != want {
			t.Errorf("%q: %q, %v, want %q", reason, rows, err, want)
		}
	}
}

// BenchmarkExportLines makes the lines of a commit with a claim and a move, without the reading of the log.
func BenchmarkExportLines(b *testing.B) {
	c := instance.Commit{Seq: 7, At: time.Now(), Actor: "developer/agent-1", Events: []instance.Event{
		instance.Claimed{Token: 3, Role: "developer", Agent: "agent-1", Lease: time.Now()},
		instance.Moved{From: "implementing", To: "running_tests", Owner: "tester", Rule: "result", Reason: "the work is done"},
	}}
	write, events := jsonLines(io.Discard), 0
	for b.Loop() {
		for _, e := range view.Events("acme/widgets/1", "implementing", c) {
			if err := write(e); err != nil {
				b.Fatal(err)
			}
			events++
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
