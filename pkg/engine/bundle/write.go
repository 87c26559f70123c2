package bundle

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nkeys"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// Format is the version of the file.
const Format = 1

// The names of the files in a bundle.
const (
	logFile        = "log.jsonl"
	proofFile      = "proof.jsonl"
	sealFile       = "seal.json"
	manifestFile   = "manifest.json"
	checkpointFile = "checkpoint"
	definitionDir  = "definitions/"
	objectDir      = "objects/"
)

// Manifest lists the content of a bundle. The checkpoint has its hash.
type Manifest struct {
	Format   int               `json:"format"`
	Identity string            `json:"identity"`           // of the log
	Instance string            `json:"instance,omitempty"` // empty: the whole log
	Made     time.Time         `json:"made"`
	Records  int               `json:"records"`
	Objects  map[string]string `json:"objects"` // by the name in the log: the SHA-256
	Files    []File            `json:"files"`
}

// File is a file of a bundle.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// proof is a line of proof.jsonl: the place of a leaf, and the hashes from it to the root. The last line is of the index.
type proof struct {
	Leaf   int64       `json:"leaf"` // from 0
	Hashes []tlog.Hash `json:"hashes"`
}

// Writer writes a bundle. Add all commits of the log in order, then the files that they name, then end it.
type Writer struct {
	manifest Manifest
	zip      *zip.Writer
	log      *entry // nil: it has ended
	tree     tree
	heads    map[string]head
	written  []int64 // leaves of the written records
	names    Names
}

// Create begins a bundle. An empty instance stands for the whole log.
func Create(to io.Writer, identity, instance string, now time.Time) (*Writer, error) {
	w := &Writer{
		manifest: Manifest{Format: Format, Identity: identity, Instance: instance, Made: now.UTC(), Objects: map[string]string{}},
		zip:      zip.NewWriter(to), heads: map[string]head{}, names: newNames(),
	}
	var err error
	w.log, err = w.begin(logFile)
	return w, err
}

// Add adds the next commit of the log. A bundle of one instance keeps no more of the others than their leaves.
func (w *Writer) Add(c eventstore.Commit) error {
	h := head{w.heads[c.Instance].n + 1, c.Chain}
	w.heads[c.Instance] = h
	r := recordOf(c, h.n)
	if err := w.tree.add(r.leaf()); err != nil {
		return err
	}
	if w.manifest.Instance != "" && w.manifest.Instance != c.Instance {
		return nil
	}
	commit, err := wire.ToCommit(c)
	if err != nil {
		return err
	}
	w.names.add(commit)
	w.written = append(w.written, w.tree.leaves-1)
	w.manifest.Records++
	line, err := json.Marshal(r)
	if err == nil {
		_, err = w.log.Write(append(line, '\n'))
	}
	return err
}

// Names returns what the written commits name.
func (w *Writer) Names() Names { return w.names }

// Definition adds the source of a definition, by its hash.
func (w *Writer) Definition(hash string, source []byte) error {
	return w.file(definitionDir+hash, source)
}

// Seal adds the seal of the log. A bundle of one instance has none: it would prove nothing there.
func (w *Writer) Seal(text []byte) error {
	if w.manifest.Instance != "" {
		return nil
	}
	return w.file(sealFile, text)
}

// Object adds an object, by its name in the log and its hash.
func (w *Writer) Object(name, sha256 string, content io.Reader) error {
	w.manifest.Objects[name] = sha256
	path := objectDir + sha256
	if slices.ContainsFunc(w.manifest.Files, func(f File) bool { return f.Path == path }) {
		return nil
	}
	e, err := w.begin(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(e, content); err != nil {
		return err
	}
	return w.end(e)
}

// End writes the proofs, the manifest and the signed checkpoint. key is that of a seal.
func (w *Writer) End(key nkeys.KeyPair) error {
	if w.manifest.Records == 0 {
		return fmt.Errorf("the log has no instance %s", w.manifest.Instance)
	}
	instances := slices.Sorted(maps.Keys(w.heads))
	var index tree
	for _, id := range instances {
		if err := index.add(indexLeaf(id, w.heads[id])); err != nil {
			return err
		}
	}
	if err := w.endLog(); err != nil {
		return err
	}
	if w.manifest.Instance != "" {
		at, _ := slices.BinarySearch(instances, w.manifest.Instance)
		if err := w.proofs(&index, int64(at)); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(w.manifest, "", "  ")
	if err != nil {
		return err
	}
	c := checkpoint{origin: origin(w.manifest.Identity), size: w.tree.leaves, instances: index.leaves, manifest: digest(text)}
	if c.root, err = w.tree.root(); err == nil {
		c.index, err = index.root()
	}
	if err != nil {
		return err
	}
	signed, err := c.sign(key)
	if err == nil {
		err = w.file(manifestFile, text)
	}
	if err == nil {
		err = w.file(checkpointFile, signed)
	}
	if err == nil {
		err = w.zip.Close()
	}
	return err
}

// proofs writes the proofs of the written records, and of the instance's leaf in the index.
func (w *Writer) proofs(index *tree, at int64) error {
	e, err := w.begin(proofFile)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(e)
	for _, n := range w.written {
		hashes, err := tlog.ProveRecord(w.tree.leaves, n, &w.tree)
		if err == nil {
			err = lines.Encode(proof{n, hashes})
		}
		if err != nil {
			return err
		}
	}
	hashes, err := tlog.ProveRecord(index.leaves, at, index)
	if err == nil {
		err = lines.Encode(proof{at, hashes})
	}
	if err != nil {
		return err
	}
	return w.end(e)
}

func (w *Writer) file(path string, content []byte) error {
	e, err := w.begin(path)
	if err != nil {
		return err
	}
	if _, err := e.Write(content); err != nil {
		return err
	}
	return w.end(e)
}

// entry is a file that is being written.
type entry struct {
	io.Writer // the hash and the file
	path      string
	sum       interface{ Sum([]byte) []byte }
	file      *bufio.Writer
	bytes     int64
}

// Write implements io.Writer.
func (e *entry) Write(p []byte) (int, error) {
	e.bytes += int64(len(p))
	return e.Writer.Write(p)
}

// endLog ends the file of records, before the next file begins.
func (w *Writer) endLog() error {
	e := w.log
	if w.log = nil; e == nil {
		return nil
	}
	return w.end(e)
}

func (w *Writer) begin(path string) (*entry, error) {
	if err := w.endLog(); err != nil {
		return nil, err
	}
	to, err := w.zip.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: w.manifest.Made})
	if err != nil {
		return nil, err
	}
	sum, file := sha256.New(), bufio.NewWriterSize(to, 1<<16)
	return &entry{Writer: io.MultiWriter(sum, file), path: path, sum: sum, file: file}, nil
}

func (w *Writer) end(e *entry) error {
	w.manifest.Files = append(w.manifest.Files, File{e.path, e.bytes, hex.EncodeToString(e.sum.Sum(nil))})
	return e.file.Flush()
}

// encoded is how a signed note writes an Ed25519 key.
func encoded(raw []byte) string { return base64.StdEncoding.EncodeToString(append([]byte{1}, raw...)) }
