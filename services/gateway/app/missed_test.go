package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// attempted is a webhook's deliveries. It lists what it delivers again, if lists is set.
type attempted struct {
	attempts []github.HookDelivery
	again    []int64
	lists    bool
	status   int
	err      error
}

func (h *attempted) Deliveries(_ context.Context, since time.Time, most int) ([]github.HookDelivery, error) {
	var rows []github.HookDelivery
	for _, a := range h.attempts {
		if !a.At.Before(since) && len(rows) < most {
			rows = append(rows, a)
		}
	}
	return rows, nil
}

func (h *attempted) Redeliver(_ context.Context, attempt int64) error {
	if h.err != nil {
		return h.err
	}
	h.again = append(h.again, attempt)
	i := slices.IndexFunc(h.attempts, func(a github.HookDelivery) bool { return a.ID == attempt })
	if h.lists {
		a := h.attempts[i]
		a.ID, a.Redelivery, a.StatusCode = 1000+a.ID, true, h.status
		h.attempts = append([]github.HookDelivery{a}, h.attempts...)
	}
	return nil
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newMissed(h *attempted) *missed {
	return &missed{forge: h, now: func() time.Time { return noon }, asked: map[string]time.Time{}, log: slog.New(slog.DiscardHandler)}
}

func TestADeliveryThatDidNotArriveIsAskedForOnce(t *testing.T) {
	at := func(id int64, guid string, status int) github.HookDelivery {
		return github.HookDelivery{ID: id, GUID: guid, StatusCode: status, At: noon.Add(-time.Hour)}
	}
	old := at(1, "old", 500)
	old.At = noon.Add(-missedFor - time.Second)
	attempts := []github.HookDelivery{at(9, "refused", 401), at(8, "arrived", 202), at(7, "timed out", 0), at(6, "second try", 202), at(5, "second try", 503), old}
	for _, lists := range []bool{true, false} {
		for _, status := range []int{202, 500} {
			h := &attempted{attempts: attempts, lists: lists, status: status}
			m := newMissed(h)
			for range 3 {
				if err := m.poll(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(h.again, []int64{9, 7}) {
				t.Errorf("asked for %v", h.again)
			}
			if lists { // a gateway that has just started knows it from the list
				if err := newMissed(h).poll(t.Context()); err != nil || len(h.again) != 2 {
					t.Errorf("after a restart: asked for %v, %v", h.again, err)
				}
			}
		}
	}
}

func TestManyMissingDeliveriesAreAskedForAFewAtATime(t *testing.T) {
	h := &attempted{}
	for i := range int64(maxMissed + 10) {
		h.attempts = append(h.attempts, github.HookDelivery{ID: i, GUID: fmt.Sprint(i), At: noon})
	}
	m := newMissed(h)
	for _, want := range []int{maxMissed, maxMissed + 10, maxMissed + 10} {
		if err := m.poll(t.Context()); err != nil || len(h.again) != want {
			t.Errorf("asked for %d, want %d: %v", len(h.again), want, err)
		}
	}
}

func TestADeliveryIsAskedForAgainAfterAnOutageAndNotAfterARefusal(t *testing.T) {
	h := &attempted{attempts: []github.HookDelivery{{ID: 1, GUID: "a", At: noon}}, err: forge.ErrUnavailable}
	m := newMissed(h)
	if err := m.poll(t.Context()); !errors.Is(err, forge.ErrUnavailable) {
		t.Error(err)
	}
	h.err = forge.ErrNotFound
	if err := m.poll(t.Context()); err != nil {
		t.Error(err)
	}
	h.err = nil
	if err := m.poll(t.Context()); err != nil || h.again != nil {
		t.Errorf("asked for %v, %v", h.again, err)
	}
}
