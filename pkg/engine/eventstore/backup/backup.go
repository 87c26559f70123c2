// Package backup keeps a copy of the log, and of what goes with it, in a
// directory, and makes the log from it again.
//
//	manifest.json          what there is, and its hashes
//	log/FIRST-LAST.jsonl.gz  the log's messages as they are, one a line
//	bucket/NAME.jsonl.gz     key-value buckets: lifecycles by hash, cursors of the gateway
//	object/SHA256            objects: git bundles, output of brains
//	seal/SEQ.json            the seal of the log, if there is one
//
// Everything is checked where it is written, where it is read, and before a log is made
// from it. It checks the files by their hashes, the commits by their chains.
package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// ErrDamaged is a backup that is not what was written, or none.
var ErrDamaged = errors.New("the backup is damaged")

// Format is the version of the directory's layout.
const Format = 1

// Manifest lists the content of a backup.
type Manifest struct {
	Format   int               `json:"format"`
	Stream   string            `json:"stream"`
	Identity string            `json:"identity"` // of the log
	Metadata map[string]string `json:"metadata"` // of its stream
	Made     time.Time         `json:"made"`     // when something was last added
	Last     uint64            `json:"last"`     // sequence of the newest commit; the first is 1
	Head     string            `json:"head"`     // hex SHA-256 over the chains of all commits in order
	Chunks   []Chunk           `json:"chunks"`
	Buckets  []Bucket          `json:"buckets"`
	Objects  []Object          `json:"objects"`
	Queues   []jetstream.Queue `json:"queues"`         // as they were before the log was read
	Seal     *Sealed           `json:"seal,omitempty"` // of the log; nil: none was given
}

// Sealed is the file of the seal of the log.
type Sealed struct {
	File
	Seq uint64 `json:"seq"` // up to which the log was sealed
	Key string `json:"key"` // public
}

// File is a file below the directory.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Chunk is a file of the log's messages from one sequence to another.
type Chunk struct {
	File
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// Bucket is a file of a key-value bucket's keys.
type Bucket struct {
	File
	Name string `json:"name"`
	Keys int    `json:"keys"`
}

// Object is a file of the object store.
type Object struct {
	File
	Name string `json:"name"`
}

const manifestFile = "manifest.json"

// Load reads the manifest of a backup. An error that is fs.ErrNotExist means that
// there is none.
func Load(dir string) (Manifest, error) {
	var m Manifest
	name := filepath.Join(dir, manifestFile)
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return m, fmt.Errorf("%w: %s is no ordinary file", ErrDamaged, manifestFile)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return m, fmt.Errorf("there is no backup in %s: %w", dir, err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestFile, err)
	}
	if m.Format != Format {
		return m, fmt.Errorf("%s: it has format %d, and this build reads %d", manifestFile, m.Format, Format)
	}
	return m, nil
}

// save replaces the manifest in one step: a crash leaves the old backup or the new one.
func (m Manifest) save(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	_, err = write(dir, manifestFile, func(f *os.File) error {
		_, err := f.Write(append(data, '\n'))
		return err
	})
	return err
}

// write makes or replaces a file in one step and says what it wrote.
func write(dir, path string, fill func(*os.File) error) (File, error) {
	name := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return File{}, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return File{}, err
	}
	err = fill(f)
	err = errors.Join(err, f.Sync(), f.Close())
	var made File
	if err == nil {
		made, err = measure(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return File{}, errors.Join(err, os.Remove(f.Name()))
	}
	made.Path = path
	return made, nil
}

func measure(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := f.WriteTo(h)
	return File{Path: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// check returns how the file differs from the manifest. A backup may be a stranger's: nothing
// but an ordinary file of the right size is opened, and none outside the directory.
func (f File) check(dir string) error {
	if !filepath.IsLocal(f.Path) {
		return fmt.Errorf("%w: %s: the path %q leads out of the backup", ErrDamaged, manifestFile, f.Path)
	}
	name := filepath.Join(dir, f.Path)
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no ordinary file", ErrDamaged, f.Path)
	} else if err == nil && info.Size() != f.Bytes {
		return fmt.Errorf("%w: %s has %d bytes, want %d", ErrDamaged, f.Path, info.Size(), f.Bytes)
	}
	there, err := measure(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is gone", ErrDamaged, f.Path)
	case err != nil:
		return err
	case there.SHA256 != f.SHA256:
		return fmt.Errorf("%w: %s has the SHA-256 %s, want %s", ErrDamaged, f.Path, there.SHA256, f.SHA256)
	}
	return nil
}
