package exec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// Documents renders a lifecycle's document and reads a program's change of it
// (pipeline lifecycle, the state file).
type Documents interface {
	// Render returns the assignment's document, or nil if it has none.
	Render(a brain.Assignment) ([]byte, error)
	// Read returns the outcome that the change from before to after means. Changes
	// that the role may not make are named in Outcome.Refused. An error means that a
	// permitted change is invalid.
	Read(a brain.Assignment, before, after []byte) (brain.Outcome, error)
}

// DefaultStateFile is the document's name in the working directory.
const DefaultStateFile = "issue-state.json"

// maxDocument is how many bytes of a document are read back.
const maxDocument = 4 << 20

// document is a document in a program's working directory. The directory is held
// open, since the program may replace it by a link.
type document struct {
	Documents
	root   *os.Root
	name   string
	before []byte
	kept   []byte // the repository's own file of that name; nil: none
	mode   fs.FileMode
}

// place writes the document. It returns nil if the assignment has none.
func (b *Brain) place(a brain.Assignment) (d *document, err error) {
	if b.cfg.Documents == nil {
		return nil, nil
	}
	before, err := b.cfg.Documents.Render(a)
	if err != nil || before == nil {
		return nil, err
	}
	root, err := os.OpenRoot(a.Dir)
	if err != nil {
		return nil, err
	}
	d = &document{Documents: b.cfg.Documents, root: root, name: b.cfg.StateFile, before: before}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Close())
		}
	}()
	switch info, err := root.Lstat(d.name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s in the work tree is no plain file: give another --state-file", d.name)
	default:
		d.mode = info.Mode().Perm()
		if d.kept, err = root.ReadFile(d.name); err != nil {
			return nil, err
		}
	}
	if err := root.MkdirAll(filepath.Dir(d.name), 0o755); err != nil {
		return nil, err
	}
	if err := d.exclude(); err != nil {
		return nil, err
	}
	return d, root.WriteFile(d.name, before, 0o644)
}

// exclude keeps the file out of the program's own commits.
func (d *document) exclude() error {
	if _, err := d.root.Stat(".git"); err != nil {
		return nil // there is no code
	}
	if err := d.root.MkdirAll(".git/info", 0o755); err != nil {
		return err
	}
	f, err := d.root.OpenFile(".git/info/exclude", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n/%s\n", filepath.ToSlash(d.name))
	return errors.Join(err, f.Close())
}

// remove deletes the document and restores the repository's own file.
func (d *document) remove() {
	defer d.root.Close()
	_ = d.root.RemoveAll(d.name) // left over, it shows in the diff
	if d.kept != nil {
		_ = d.root.WriteFile(d.name, d.kept, d.mode)
	}
	for dir := filepath.Dir(d.name); dir != "."; dir = filepath.Dir(dir) {
		_ = d.root.Remove(dir) // if it is empty
	}
}

// join adds the program's change of the document to the outcome.
func (d *document) join(a brain.Assignment, out brain.Outcome) (brain.Outcome, error) {
	after, err := d.read()
	if err != nil {
		return out, fmt.Errorf("%w: %s %w", brain.ErrInvalidResult, d.name, err)
	}
	if after == nil {
		out.Refused = append(out.Refused, d.name+" is gone: the document stays as it was")
		return out, nil
	}
	if bytes.Equal(d.before, after) {
		return out, nil
	}
	said, err := d.Read(a, d.before, after)
	if err != nil {
		return out, fmt.Errorf("%s: %w", d.name, err)
	}
	return joined(out, said), nil
}

// read returns the document as the program left it, or nil if it is gone. The
// program may have put anything in its place.
func (d *document) read() ([]byte, error) {
	f, err := d.root.OpenFile(d.name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.New("cannot be opened: want a plain file")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("is larger than %d bytes", maxDocument)
	}
	return append([]byte{}, text...), err // an empty file is one, too
}

// joined merges a program's outcome with that of its document. A stated result
// takes precedence.
func joined(out, said brain.Outcome) brain.Outcome {
	first, second := out.Result, said.Result
	if said.Declared && !out.Declared {
		first, second = second, first
	}
	r := first
	if strings.TrimSpace(r.Summary) == "" {
		r.Summary = second.Summary
	}
	r.Sections = merged(second.Sections, first.Sections)
	r.Data = merged(second.Data, first.Data)
	r.IssuesFound = slices.Concat(out.Result.IssuesFound, said.Result.IssuesFound)
	r.Questions = slices.Concat(out.Result.Questions, said.Result.Questions)
	r.Forms = merged(second.Forms, first.Forms)
	r.Answers = slices.Concat(out.Result.Answers, said.Result.Answers)
	r.Spend = out.Result.Spend
	out.Result, out.Declared = r, out.Declared || said.Declared
	out.Asks = slices.Concat(out.Asks, said.Asks)
	out.Notes = slices.Concat(out.Notes, said.Notes)
	out.Refused = slices.Concat(out.Refused, said.Refused)
	if out.Escalate == nil {
		out.Escalate = said.Escalate
	}
	return out
}

// merged returns base with the entries of over; nil: none.
func merged[V any](base, over map[string]V) map[string]V {
	if len(base)+len(over) == 0 {
		return nil
	}
	all := map[string]V{}
	maps.Copy(all, base)
	maps.Copy(all, over)
	return all
}
