package backup

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// A chunk ends with as many messages, or bytes before compression.
const (
	chunkMessages = 50_000
	chunkBytes    = 64 << 20
)

// message is a line of a chunk.
type message struct {
	Seq     uint64      `json:"seq"`
	Stored  time.Time   `json:"stored"`
	Subject string      `json:"subject"`
	Header  nats.Header `json:"header"`
	Data    []byte      `json:"data"`
}

// lines writes values as compressed lines of JSON.
type lines struct {
	zip   *gzip.Writer
	buf   *bufio.Writer
	bytes int
}

func newLines(w io.Writer) (*lines, error) {
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	return &lines{zip: zip, buf: bufio.NewWriterSize(zip, 1<<20)}, err
}

func (l *lines) put(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	l.bytes += len(line) + 1
	_, err = l.buf.Write(append(line, '\n'))
	return err
}

func (l *lines) close() error { return errors.Join(l.buf.Flush(), l.zip.Close()) }

// maxLine is how long a line of a file may be before compression, in bytes. It is more than a
// message of nats-server can be in JSON.
const maxLine = 128 << 20

var errLong = fmt.Errorf("a line is longer than %d bytes", maxLine)

// bounded reads no more than left bytes.
type bounded struct {
	io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// each calls f with each line of a file. An error of reading is ErrDamaged.
func each[T any](dir string, file File, f func(T) error) error {
	in, err := os.Open(filepath.Join(dir, file.Path))
	if err != nil {
		return err
	}
	defer in.Close()
	zip, err := gzip.NewReader(bufio.NewReaderSize(in, 1<<20))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, file.Path, err)
	}
	from := &bounded{Reader: zip}
	for lines := json.NewDecoder(from); ; {
		from.left = maxLine
		var v T
		switch err := lines.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %s: %w", ErrDamaged, file.Path, err)
		}
		if err := f(v); err != nil {
			return err
		}
	}
}

// messages calls f with each message of the log from a sequence on.
func (m Manifest) messages(dir string, from uint64, f func(jetstream.Message) error) error {
	for _, c := range m.Chunks {
		if c.Last < from {
			continue
		}
		next := c.First
		err := each(dir, c.File, func(v message) error {
			if v.Seq != next || next > c.Last {
				return fmt.Errorf("%w: %s: sequence %d comes where %d should, of %d to %d", ErrDamaged, c.Path, v.Seq, next, c.First, c.Last)
			}
			if next++; v.Seq < from {
				return nil
			}
			return f(jetstream.Message(v))
		})
		if err == nil && next != c.Last+1 {
			err = fmt.Errorf("%w: %s: it ends at %d, want %d", ErrDamaged, c.Path, next-1, c.Last)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
