package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// BenchmarkBoard makes the first page of the board of 100,000 open instances, from the cache to bytes.
func BenchmarkBoard(b *testing.B) {
	p, err := readPages()
	if err != nil {
		b.Fatal(err)
	}
	c := newCache(nil, newHub(), nil)
	for i := range 100_000 {
		c.set(row{ID: fmt.Sprintf("acme/widgets/%d", i), Repo: fmt.Sprintf("acme/r%d", i%50), Workflow: "issue", State: fmt.Sprintf("s%d", i%12), Role: "developer",
			Kind: workflow.Work, Entered: nine.Add(-time.Duration(i) * time.Second), Title: fmt.Sprintf("Widget %d", i), Labels: []string{"bug"}, Waits: i%100 == 0, Failures: i % 7 / 6, Deadline: nine.Add(time.Duration(i%5-2) * time.Hour), Seq: uint64(i)})
	}
	for name, f := range map[string]filter{"all": {}, "waiting": {Waiting: true}, "text": {Text: "widget 99"}, "label": {Label: "bug"}, "page 20": {Page: 20}, "last page": {Page: 9999},
		"repo": {Repo: "acme/r7"}, "role": {Role: "developer"}, "state": {Workflow: "issue", State: "s3"}, "late": {Late: true}, "failing": {Failing: true}, "unproven": {Unproven: true}, "closed": {Closed: true}} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				board := makeBoard(c.snapshot(), f, nine)
				board.frame = frame{Title: "Board", As: "ann", Live: true}
				w := httptest.NewRecorder()
				p.show(w, http.StatusOK, "board", board)
				size = w.Body.Len()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
