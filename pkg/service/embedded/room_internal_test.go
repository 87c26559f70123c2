package embedded

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

func TestAStoreThatCannotWriteEndsTheProcessOnceThereIsRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log") // it is not there: as if its disk were full
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		s := &Server{dir: dir, stop: newStop()}
		ended := make(chan error, 1)
		go func() { ended <- s.AwaitStop(t.Context(), log) }()
		l := logger{log: log, stop: s.stop}
		for range 3 {
			l.Errorf("JetStream - %s Critical write error: write x: no space left on device", "EVENTS")
			l.Warnf("Error storing: %v", "no space left on device")
		}
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatalf("without room it ended: %v", <-ended)
		}
		if n := strings.Count(out.String(), "no space"); n != 1 || !strings.Contains(out.String(), "make room") {
			t.Errorf("it logs %q", out.String())
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, ErrStopped) {
			t.Errorf("with room it ended with %v", err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	})
}

func TestAStoreThatWritesEndsNothing(t *testing.T) {
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	s := &Server{dir: t.TempDir(), stop: newStop()}
	l := logger{log: slog.New(slog.NewTextHandler(&out, nil)), stop: s.stop}
	l.Warnf("Filestore [%s] Stream state outdated, last block has additional entries, will rebuild", "EVENTS")
	l.Warnf("Recovering stream state from index errored: %v", "EOF")
	if out.Len() > 0 {
		t.Errorf("it warns of what means nothing: %s", out.String())
	}
	l.Warnf("slow consumer")
	if !strings.Contains(out.String(), "slow consumer") {
		t.Error("it does not warn")
	}
	cancel()
	if err := s.AwaitStop(ctx, l.log); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
