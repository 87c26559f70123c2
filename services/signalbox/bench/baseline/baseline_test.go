package baseline_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/services/signalbox/bench/baseline"
)

func TestAStepIsTwoAppendsOneByOneAsInBatches(t *testing.T) {
	for name, batch := range map[string]bool{"one by one": false, "in batches": true} {
		t.Run(name, func(t *testing.T) {
			server := natstest.Start(t, natstest.Options{SyncAlways: batch})
			const instances, steps = 40, 8
			r, err := baseline.Run(t.Context(), server.Connect(t), server.Connect(t), baseline.Order{
				Batch: batch, Prefix: "i", Instances: instances, Steps: steps, InFlight: 8, Watch: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			if want := uint64(instances * (2*steps + 1)); r.Messages != want || r.Bytes < 220*want {
				t.Errorf("%d messages of %d bytes are stored, want %d of at least 220 each", r.Messages, r.Bytes, want)
			}
			if len(r.Gaps) != instances*(steps-1) || r.Took <= 0 {
				t.Errorf("%d hand-offs in %v, want %d", len(r.Gaps), r.Took, instances*(steps-1))
			}
			for _, gap := range r.Gaps {
				if gap <= 0 || gap > time.Minute {
					t.Errorf("a hand-off took %v", gap)
				}
			}
		})
	}
}
