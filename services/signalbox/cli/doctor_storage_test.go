package cli

import (
	"testing"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

func TestDoctorWarnsBeforeALimitOfStorageIsReached(t *testing.T) {
	for usage, want := range map[store.Usage]status{{Used: 1 << 30}: fine, {Used: 79, Limit: 100}: fine, {Used: 80, Limit: 100}: worry, {Used: 98, Limit: 100}: fail} {
		if got := nearlyFull("", usage); got.Status != want {
			t.Errorf("%+v is judged %+v, want %s", usage, got, want)
		}
	}
}
