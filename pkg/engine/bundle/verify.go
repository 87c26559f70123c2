package bundle

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// ErrBundle means that a file is no bundle, or not the one that was signed.
var ErrBundle = errors.New("the bundle is refused")

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrBundle, fmt.Errorf(format, args...))
}

// Verified is a bundle whose signature, hashes and proofs hold.
type Verified struct {
	Manifest
	Size      int64      // commits of the log
	Instances int64      // of the log
	Erased    int        // records whose texts were erased
	Missing   []string   // objects that the records name, and that the bundle has not
	Seal      *seal.Seal // nil: it has none
}

// maxMemory is the most bytes of a file that is read into memory, maxFiles the most files of a bundle: a bundle may be a
// stranger's.
const (
	maxMemory = 64 << 20
	maxFiles  = 1_000_000
)

// Verify checks a bundle with a public key, and calls f with each commit before it returns: nothing counts until
// then. definition is called with the sources first.
func Verify(from io.ReaderAt, size int64, public string, definition func(hash string, source []byte), f func(eventstore.Commit) error) (Verified, error) {
	b := &reader{files: map[string]*zip.File{}, names: newNames(), heads: map[string]head{}}
	archive, err := zip.NewReader(from, size)
	if err != nil {
		return b.found, refused("the file is cut off, or no bundle: %w", err)
	}
	for _, phase := range []func() error{
		func() error { return b.list(archive) },
		func() error { return b.signature(public) },
		b.complete,
		func() error { return b.definitions(definition) },
		func() error { return b.sealed(public) },
		func() error { return b.records(public, f) },
		b.proven,
		b.objects,
	} {
		if err := phase(); err != nil {
			return b.found, err
		}
	}
	return b.found, nil
}

// reader is a bundle that is being verified.
type reader struct {
	files    map[string]*zip.File
	found    Verified
	signed   checkpoint
	names    Names
	tree     tree
	leaves   []tlog.Hash // of the records of one instance
	numbers  []int64     // of those leaves
	heads    map[string]head
	follower seal.Follower
}

func (b *reader) list(archive *zip.Reader) error {
	if len(archive.File) > maxFiles {
		return refused("it has more than %d files", maxFiles)
	}
	for _, f := range archive.File {
		if b.files[f.Name] != nil {
			return refused("it has two files %.100q", f.Name)
		}
		b.files[f.Name] = f
	}
	return nil
}

// signature checks the checkpoint, and the manifest that it has the hash of.
func (b *reader) signature(public string) error {
	signed, err := b.read(checkpointFile)
	if err != nil {
		return err
	}
	if b.signed, err = openCheckpoint(signed, public); err != nil {
		return err
	}
	text, err := b.read(manifestFile)
	if err != nil {
		return err
	}
	if digest(text) != b.signed.manifest {
		return refused("%s is not the one that was signed", manifestFile)
	}
	if err := json.Unmarshal(text, &b.found.Manifest); err != nil {
		return refused("%s: %w", manifestFile, err)
	}
	b.found.Size, b.found.Instances = b.signed.size, b.signed.instances
	if m := b.found.Manifest; m.Format != Format {
		return refused("it has format %d, and this build reads %d", m.Format, Format)
	} else if b.signed.origin != origin(m.Identity) {
		return refused("the checkpoint is of the %s, the manifest of %s", b.signed.origin, m.Identity)
	}
	return nil
}

// complete checks that the bundle has the files of its manifest and no others.
func (b *reader) complete() error {
	listed := map[string]bool{manifestFile: true, checkpointFile: true}
	for _, f := range b.found.Files {
		switch there := b.files[f.Path]; {
		case there == nil:
			return refused("%s is missing", f.Path)
		case there.UncompressedSize64 != uint64(f.Bytes) && f.Path != logFile: // its records say more
			return b.differs(f.Path)
		}
		listed[f.Path] = true
	}
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		if !listed[name] {
			return refused("%.100q is not in the manifest", name)
		}
	}
	return nil
}

func (b *reader) differs(path string) error { return refused("%s is not what was exported", path) }

func (b *reader) definitions(f func(hash string, source []byte)) error {
	for _, file := range b.found.Files {
		if len(file.Path) < len(definitionDir) || file.Path[:len(definitionDir)] != definitionDir {
			continue
		}
		source, err := b.read(file.Path)
		if err != nil {
			return err
		}
		if digest(source) != file.SHA256 || definitionDir+file.SHA256 != file.Path {
			return b.differs(file.Path)
		}
		f(file.SHA256, source)
	}
	return nil
}

// records checks each record: its number, its chain, and its signature if it was erased.
func (b *reader) records(public string, f func(eventstore.Commit) error) error {
	var chains eventstore.Verifier
	err := b.lines(logFile, func(line []byte) error {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return refused("record %d cannot be read: %w", b.follower.Seq+1, err)
		}
		c := r.commit()
		h := head{b.heads[c.Instance].n + 1, c.Chain}
		switch whole := b.found.Instance == ""; {
		case whole && r.Seq != b.follower.Seq+1:
			return refused("sequence %d comes where %d belongs", r.Seq, b.follower.Seq+1)
		case r.Seq <= b.follower.Seq:
			return refused("sequence %d comes after %d", r.Seq, b.follower.Seq)
		case !whole && c.Instance != b.found.Instance:
			return refused("sequence %d is of %q", r.Seq, c.Instance)
		case r.N != h.n:
			return refused("sequence %d is commit %d of %q, and comes where %d belongs", r.Seq, r.N, c.Instance, h.n)
		}
		if err := errors.Join(c.Check(), chains.Add(c)); err != nil {
			return refused("%w", err)
		}
		if c.Erased != "" {
			if err := seal.CheckErasure(c, public); err != nil {
				return refused("sequence %d: %w", r.Seq, err)
			}
			b.found.Erased++
		}
		commit, err := wire.ToCommit(c)
		if err != nil {
			return refused("sequence %d: %w", r.Seq, err)
		}
		b.names.add(commit)
		b.heads[c.Instance] = h
		b.follower.Add(c.Seq, c, true, "", nil)
		if b.found.Instance == "" {
			err = b.tree.add(r.leaf())
		} else {
			b.leaves, b.numbers = append(b.leaves, tlog.RecordHash(r.leaf())), append(b.numbers, int64(r.Seq)-1)
		}
		if err != nil {
			return err
		}
		return f(c)
	})
	if err != nil {
		return err
	}
	if err := b.follower.End(); err != nil {
		return refused("%w", err)
	}
	for hash := range b.names.Definitions {
		if b.files[definitionDir+hash] == nil {
			return refused("the definition %s, which its records name, is missing", hash)
		}
	}
	return nil
}

// proven checks that the records are those of the tree that was signed.
func (b *reader) proven() error {
	if b.found.Instance != "" {
		return b.provenOne()
	}
	var index tree
	for _, id := range slices.Sorted(maps.Keys(b.heads)) {
		if err := index.add(indexLeaf(id, b.heads[id])); err != nil {
			return err
		}
	}
	root, err := b.tree.root()
	if err != nil {
		return err
	}
	other, err := index.root()
	switch {
	case err != nil:
		return err
	case b.tree.leaves != b.signed.size:
		return refused("it has %d records, and the log that was signed has %d", b.tree.leaves, b.signed.size)
	case root != b.signed.root:
		return refused("the records are not those of the log that was signed")
	case index.leaves != b.signed.instances || other != b.signed.index:
		return refused("the instances are not those of the log that was signed")
	}
	return nil
}

// provenOne checks that the records are in the log that was signed, and that they are all of their instance by its index.
func (b *reader) provenOne() error {
	var proofs []proof
	if err := b.lines(proofFile, func(line []byte) error {
		var p proof
		if err := json.Unmarshal(line, &p); err != nil {
			return refused("%s cannot be read: %w", proofFile, err)
		}
		proofs = append(proofs, p)
		return nil
	}); err != nil {
		return err
	}
	if len(proofs) != len(b.leaves)+1 {
		return refused("it has %d records and %d proofs of them", len(b.leaves), len(proofs)-1)
	}
	for i, leaf := range b.leaves {
		if err := check(proofs[i], b.signed.size, b.signed.root, b.numbers[i], leaf); err != nil {
			return refused("sequence %d is not in the log that was signed: %w", b.numbers[i]+1, err)
		}
	}
	last := proofs[len(b.leaves)]
	leaf := tlog.RecordHash(indexLeaf(b.found.Instance, b.heads[b.found.Instance]))
	if err := check(last, b.signed.instances, b.signed.index, last.Leaf, leaf); err != nil {
		return refused("the %d records are not all of %s: %w", len(b.leaves), b.found.Instance, err)
	}
	return nil
}

func check(p proof, size int64, root tlog.Hash, at int64, leaf tlog.Hash) error {
	if p.Leaf != at || at < 0 || at >= size {
		return fmt.Errorf("a proof of leaf %d", p.Leaf)
	}
	return tlog.CheckRecord(p.Hashes, size, root, at, leaf)
}

// objects checks each object against its name, and against the hash that the log has of it.
func (b *reader) objects() error {
	for _, file := range b.found.Files {
		if len(file.Path) < len(objectDir) || file.Path[:len(objectDir)] != objectDir {
			continue
		}
		sum := sha256.New()
		if err := b.copy(file.Path, sum); err != nil {
			return err
		}
		if hex.EncodeToString(sum.Sum(nil)) != file.SHA256 || objectDir+file.SHA256 != file.Path {
			return b.differs(file.Path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.names.Objects)) {
		want := b.names.Objects[name]
		switch has := b.found.Objects[name]; {
		case has == "":
			b.found.Missing = append(b.found.Missing, name)
		case b.files[objectDir+has] == nil:
			return refused("the object %s of %.100q is missing", has, name)
		case want != "" && has != want:
			return refused("the object %.100q has the SHA-256 %s, and the log %s", name, has, want)
		}
	}
	return nil
}

// sealed checks the signature of the seal, if there is one. The records follow.
func (b *reader) sealed(public string) error {
	if b.files[sealFile] == nil {
		return nil
	}
	text, err := b.read(sealFile)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(b.found.Files, func(f File) bool { return f.Path == sealFile && f.SHA256 == digest(text) }) {
		return b.differs(sealFile)
	}
	s, err := seal.Parse(text, public)
	if err != nil {
		return refused("the seal: %w", err)
	}
	b.found.Seal, b.follower.Seal = &s, s
	return nil
}

// read returns a small file.
func (b *reader) read(path string) ([]byte, error) {
	f := b.files[path]
	if f == nil {
		return nil, refused("%s is missing", path)
	}
	if f.UncompressedSize64 > maxMemory {
		return nil, refused("%s is too long", path)
	}
	in, err := f.Open()
	if err != nil {
		return nil, refused("%s: %w", path, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxMemory))
	if err != nil {
		return nil, refused("%s: %w", path, err)
	}
	return text, nil
}

// copy copies a file of any length.
func (b *reader) copy(path string, to hash.Hash) error {
	f := b.files[path]
	if f == nil {
		return refused("%s is missing", path)
	}
	in, err := f.Open()
	if err != nil {
		return refused("%s: %w", path, err)
	}
	defer in.Close()
	if _, err := io.Copy(to, io.LimitReader(in, int64(f.UncompressedSize64))); err != nil {
		return refused("%s: %w", path, err)
	}
	return nil
}

// lines calls f with each line of a file, and checks its hash at the end.
func (b *reader) lines(path string, f func([]byte) error) error {
	file := b.files[path]
	if file == nil {
		return refused("%s is missing", path)
	}
	in, err := file.Open()
	if err != nil {
		return refused("%s: %w", path, err)
	}
	defer in.Close()
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(in, sum))
	lines.Buffer(make([]byte, 1<<16), 4<<20) // a commit has 1 MiB at most, base64 makes it longer
	for lines.Scan() {
		if err := f(lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return refused("%s: %w", path, err)
	}
	listed := slices.IndexFunc(b.found.Files, func(f File) bool { return f.Path == path })
	if listed < 0 || b.found.Files[listed].SHA256 != hex.EncodeToString(sum.Sum(nil)) {
		return b.differs(path)
	}
	return nil
}
