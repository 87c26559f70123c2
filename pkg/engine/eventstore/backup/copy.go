package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// Copy writes a backup into another directory, with each message as change returns it, and without the objects that
// drop names. The chains stay as they are. It checks the backup before, and the copy behind.
func Copy(from, to string, change func(jetstream.Message) (jetstream.Message, error), drop func(object string) bool) (Manifest, error) {
	m, err := Verify(from)
	if err != nil {
		return m, err
	}
	if there, err := os.ReadDir(to); err == nil && len(there) > 0 {
		return m, fmt.Errorf("%w: %s is not empty", ErrOther, to)
	}
	chunks := m.Chunks
	m.Chunks = nil
	for _, c := range chunks {
		out, err := newChunk(to, c.First)
		if err != nil {
			return m, err
		}
		err = (Manifest{Chunks: []Chunk{c}}).messages(from, 1, func(f jetstream.Message) error {
			f, err := change(f)
			if err == nil {
				_, err = out.put(f)
			}
			return err
		})
		if err != nil {
			return m, errors.Join(err, out.drop())
		}
		if m.Chunks, err = out.end(m.Chunks); err != nil {
			return m, err
		}
	}
	objects := m.Objects
	m.Objects = nil
	for _, o := range objects {
		if !drop(o.Name) {
			m.Objects = append(m.Objects, o)
		}
	}
	for _, f := range m.files() {
		if filepath.Dir(f.Path) == "log" {
			continue
		}
		if _, err := write(to, f.Path, func(w *os.File) error {
			in, err := os.Open(filepath.Join(from, f.Path))
			if err != nil {
				return err
			}
			_, err = w.ReadFrom(in)
			return errors.Join(err, in.Close())
		}); err != nil {
			return m, err
		}
	}
	if err := m.save(to); err != nil {
		return m, err
	}
	return Verify(to)
}
