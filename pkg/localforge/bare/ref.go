package bare

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// Refs returns every ref of the repository and the object it names. It reads the files that
// git keeps, because the forge asks for them at nearly each request. Where one is not in the
// usual format, git itself lists them.
func (r Repo) Refs(ctx context.Context) (map[string]string, error) {
	if refs, ok := readRefs(r.Dir()); ok {
		return refs, nil
	}
	out, err := r.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[ref] = sha
	}
	return refs, nil
}

// readRefs reads the refs of a bare repository from its files. It reports whether all were in
// the usual format. Loose refs come first, as in git: one that git packs meanwhile is removed
// only after it is among the packed ones.
func readRefs(dir string) (map[string]string, bool) {
	loose := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != filepath.Join(dir, "refs") {
			return nil // it was removed meanwhile
		}
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		sha := string(bytes.TrimSpace(text))
		if err != nil || !IsSHA(sha) {
			return errors.Join(err, errUnusual)
		}
		ref, err := filepath.Rel(dir, path)
		loose[filepath.ToSlash(ref)] = sha
		return err
	})
	if err != nil {
		return nil, false
	}
	packed, err := os.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(packed)) {
		if line[0] == '#' || line[0] == '^' { // the header, and the commit of the tag above
			continue
		}
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !IsSHA(sha) || !strings.HasPrefix(ref, "refs/") {
			return nil, false
		}
		refs[ref] = sha
	}
	maps.Copy(refs, loose)
	return refs, true
}

// errUnusual marks a file of a ref that holds no SHA, such as a symbolic ref.
var errUnusual = errors.New("the ref is not in the usual format")
