package local

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/filelock"
)

// journal is the file the state is folded from: one JSON array of entries a
// line, a line a change.
type journal struct {
	file *os.File
	size int64 // of what is durable
}

// errJournal says that an earlier write failed and could not be undone.
var errJournal = errors.New("the journal cannot be written any more: restart the forge when the disk is well again")

// openJournal reads the journal and returns the state it tells. A last line
// without its end was never answered for and is cut off.
func openJournal(path string) (*journal, *state, error) {
	file, err := filelock.Take(path)
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("in use by another forge: %w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	j := &journal{file: file}
	entries, err := j.read()
	if err == nil {
		err = errors.Join(file.Truncate(j.size), syncDir(filepath.Dir(path)))
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("journal %s: %w", path, err), file.Close())
	}
	return j, (&state{}).with(entries), nil
}

func (j *journal) read() ([]entry, error) {
	var entries []entry
	lines := bufio.NewReader(j.file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		var change []entry
		if err := json.Unmarshal(line, &change); err != nil {
			return nil, fmt.Errorf("line %d is damaged: %w", n, err)
		}
		entries = append(entries, change...)
		j.size += int64(len(line))
	}
}

// append makes the change durable, or leaves the journal as it was.
func (j *journal) append(change []entry) error {
	if j.file == nil {
		return errJournal
	}
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(change); err != nil {
		return err
	}
	_, err := j.file.WriteAt(line.Bytes(), j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		if undo := j.file.Truncate(j.size); undo != nil {
			err = errors.Join(err, undo, j.close())
		}
		return fmt.Errorf("journal: %w", err)
	}
	j.size += int64(line.Len())
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	file := j.file
	j.file = nil
	return file.Close()
}

// syncDir makes the directory's own entries durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
