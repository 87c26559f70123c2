package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/base/filelock"
)

// journal is the file that the state is folded from. Each line is one change: a JSON
// array of entries. Its methods are called under the lock of Store.
type journal struct {
	file *os.File
	size int64 // bytes that are durable
}

// errJournal means that an earlier write failed and could not be undone.
var errJournal = errors.New("the journal cannot be written any more: restart the forge when the disk is well again")

// openJournal reads the journal and folds its state. It cuts off a last line without
// its end: no request that made it was answered.
func openJournal(path string) (*journal, *State, error) {
	file, err := filelock.Lock(path)
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
	return j, (&State{}).with(entries), nil
}

func (j *journal) read() ([]Entry, error) {
	var entries []Entry
	lines := bufio.NewReader(j.file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		var change []Entry
		if err := json.Unmarshal(line, &change); err != nil {
			return nil, fmt.Errorf("line %d is damaged: %w", n, err)
		}
		entries = append(entries, change...)
		j.size += int64(len(line))
	}
}

// append makes the change durable, or leaves the journal as it was.
func (j *journal) append(change []Entry) error {
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

// syncDir flushes the entries of the directory to disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
