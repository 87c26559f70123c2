package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// ErrStopped means that the store could not write, as on a full disk, and writes nothing more
// until the process starts again.
var ErrStopped = errors.New("the store could not write, and writes nothing until this is started again; nothing that was acknowledged is lost")

// room is the space that a start needs, in bytes. It is looked for every second.
const (
	room      = 4 << 20
	roomEvery = time.Second
)

// stop is closed when the store can write no more.
type stop struct {
	once   sync.Once
	closed chan struct{}
}

func newStop() *stop { return &stop{closed: make(chan struct{})} }

// note closes the stop if a line of the server's log says that the store can write no more.
// It reports whether the line repeats that.
func (s *stop) note(line string) (repeats bool) {
	const first = "Critical write error" // the server logs it once for each stream
	full := strings.Contains(line, first) || strings.Contains(line, "no space left on device")
	if !full {
		return false
	}
	repeats = true
	if strings.Contains(line, first) {
		s.once.Do(func() { repeats = false; close(s.closed) })
	}
	return repeats
}

// AwaitStop returns nil when ctx ends. If before that the store could not write, it waits
// until its disk has room again, and returns ErrStopped, so that the process ends and its
// supervisor starts it.
func (s *Server) AwaitStop(ctx context.Context, log *slog.Logger) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.stop.closed:
	}
	log.Error("the disk of the log is full: make room; this process then ends, and goes on when it is started again", "dir", s.dir)
	for !hasRoom(s.dir) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(roomEvery):
		}
	}
	return fmt.Errorf("%s: %w", s.dir, ErrStopped)
}

// hasRoom reports whether a file of the size of room can be written in dir.
func hasRoom(dir string) bool {
	f, err := os.CreateTemp(dir, "room-")
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, room))
	return errors.Join(err, f.Close(), os.Remove(f.Name())) == nil
}
