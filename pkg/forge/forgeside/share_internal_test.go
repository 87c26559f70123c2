package forgeside

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestTheOrchestratorIsAskedAgainAfterAWhileUnlessItRefuses(t *testing.T) {
	var log bytes.Buffer
	s := &sharing{log: slog.New(slog.NewTextHandler(&log, nil))}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	gone := errors.New("gone")
	for _, step := range []struct {
		name  string
		after time.Duration
		asks  bool
		err   error // of the question, if it is asked
		lines int   // of the log, afterwards
	}{
		{"it answers", 0, true, nil, 0},
		{"it does not", time.Second, true, gone, 1},
		{"soon after that", alone - 1, false, nil, 1},
		{"a while after that it does not yet", 1, true, gone, 1},
		{"a while after that it does", alone, true, nil, 2},
		{"at once again", 0, true, nil, 2},
		{"it refuses", time.Second, true, errRefused, 3},
		{"a day later", 24 * time.Hour, false, nil, 3},
	} {
		now = now.Add(step.after)
		asks := s.asks(now)
		if asks {
			s.note(step.err, now)
		}
		if n := strings.Count(log.String(), "\n"); asks != step.asks || n != step.lines {
			t.Errorf("%s: it is asked: %t, and the log has %d lines", step.name, asks, n)
		}
	}
}
