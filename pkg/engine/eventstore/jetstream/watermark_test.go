package jetstream

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

func TestWatermark(t *testing.T) {
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := watermark{"A", made, 10}
	for _, c := range []struct {
		name  string
		there watermark
		err   string // empty: taken
	}{
		{"takes the same log", watermark{"A", made, 10}, ""},
		{"takes a log that has grown", watermark{"A", made, 11}, ""},
		{"refuses another log", watermark{"B", made, 10}, "another log is there: identity B"},
		{"refuses a recreated log", watermark{"A", made.Add(1), 10}, "a recreated log"},
		{"refuses a log cut short", watermark{"A", made, 9}, "a log cut short is there: identity A, created 2026-01-02T03:04:05Z, 9 commits; want identity A, created 2026-01-02T03:04:05Z, at least 10 commits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := want.check(c.there)
			if c.err == "" && err != nil {
				t.Fatal(err)
			}
			if c.err != "" && (!errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("got %v, want ErrCorrupt with %q", err, c.err)
			}
		})
	}
}

// counter is a keeper that counts.
type counter struct {
	err error

	mu    sync.Mutex
	saves []uint64
}

func (c *counter) String() string                          { return "counter" }
func (c *counter) load(context.Context) (watermark, error) { return watermark{}, nil }
func (c *counter) save(_ context.Context, w watermark) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saves = append(c.saves, w.Seq)
	return c.err
}

func (c *counter) saved() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.saves)
}

// pass lets a bubble's clock go on until what is due is saved.
func pass() {
	time.Sleep(saveEvery + 1)
	synctest.Wait()
}

func TestMarker(t *testing.T) {
	t.Run("saves a second after it was raised, once, never a lower mark", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{}
			m := newWatermarkTracker(c, watermark{Seq: 4})
			for _, seq := range []uint64{5, 7, 6} {
				m.advance(seq)
			}
			if len(c.saved()) != 0 {
				t.Fatalf("saved %v at once", c.saved())
			}
			pass()
			m.advance(3)
			pass()
			m.advance(8)
			pass()
			if !slices.Equal(c.saved(), []uint64{7, 8}) {
				t.Fatalf("saved %v, want [7 8]", c.saved())
			}
		})
	})
	t.Run("tries again with what comes next after a save that failed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{err: errors.New("disk full")}
			m := newWatermarkTracker(c, watermark{})
			for seq := range uint64(3) {
				m.advance(seq + 1)
				pass()
			}
			if !slices.Equal(c.saved(), []uint64{1, 2, 3}) {
				t.Fatalf("tried %v, want [1 2 3]", c.saved())
			}
		})
	})
	t.Run("saves no more when it is closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{}
			m := newWatermarkTracker(c, watermark{})
			m.advance(1)
			m.closed.Store(true)
			pass()
			if len(c.saved()) != 0 {
				t.Fatalf("saved %v", c.saved())
			}
		})
	})
	t.Run("reports at the end that it could not save", func(t *testing.T) {
		full := errors.New("disk full")
		m := newWatermarkTracker(&counter{err: full}, watermark{})
		if err := m.save(t.Context()); !errors.Is(err, full) || !strings.Contains(err.Error(), "counter") {
			t.Fatalf("got %v", err)
		}
	})
}

func TestFileKeeper(t *testing.T) {
	name := filepath.Join(t.TempDir(), "watermark")
	k := fileWatermark(name)
	t.Run("knows nothing at first", func(t *testing.T) {
		if w, err := k.load(t.Context()); err != nil || w != (watermark{}) {
			t.Fatalf("got %v, %v", w, err)
		}
	})
	t.Run("gives back what was saved last and leaves nothing else", func(t *testing.T) {
		want := watermark{"A", time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), 10}
		for range 3 {
			want.Seq++
			if err := k.save(t.Context(), want); err != nil {
				t.Fatal(err)
			}
		}
		if w, err := k.load(t.Context()); err != nil || w != want {
			t.Fatalf("got %v, %v, want %v", w, err, want)
		}
		if files, err := os.ReadDir(filepath.Dir(name)); err != nil || len(files) != 1 {
			t.Fatalf("the directory holds %v, %v", files, err)
		}
	})
	t.Run("does not take a damaged file for none", func(t *testing.T) {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if w, err := k.load(t.Context()); err == nil {
			t.Fatalf("got %v", w)
		}
	})
	t.Run("says that it cannot save", func(t *testing.T) {
		if err := fileWatermark(filepath.Join(name, "below a file")).save(t.Context(), watermark{}); err == nil {
			t.Fatal("saved below a file")
		}
	})
}
