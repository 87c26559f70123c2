package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// chunkWriter writes one chunk.
type chunkWriter struct {
	dir         string
	file        *os.File
	lines       *lines
	first, last uint64
}

func newChunk(dir string, first uint64) (*chunkWriter, error) {
	dir = filepath.Join(dir, "log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, ".part-*")
	if err != nil {
		return nil, err
	}
	l, err := newLines(f)
	return &chunkWriter{dir: dir, file: f, lines: l, first: first}, err
}

// put reports whether the chunk is full now.
func (w *chunkWriter) put(m jetstream.Message) (full bool, err error) {
	w.last = m.Seq
	err = w.lines.put(message(m))
	return w.lines.bytes >= chunkBytes || w.last-w.first+1 >= chunkMessages, err
}

// end closes the chunk and adds it to all.
func (w *chunkWriter) end(all []Chunk) ([]Chunk, error) {
	err := errors.Join(w.lines.close(), w.file.Sync(), w.file.Close())
	if err != nil {
		return all, err
	}
	made, err := measure(w.file.Name())
	if err != nil {
		return all, err
	}
	name := fmt.Sprintf("%012d-%012d.jsonl.gz", w.first, w.last)
	made.Path = filepath.Join("log", name)
	return append(all, Chunk{made, w.first, w.last}), os.Rename(w.file.Name(), filepath.Join(w.dir, name))
}

func (w *chunkWriter) drop() error { return errors.Join(w.file.Close(), os.Remove(w.file.Name())) }
