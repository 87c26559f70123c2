package attestation

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Refs is where a repository has attestations. Below it each has the name TREE/COMMIT.
const Refs = "refs/attestations/"

// Ref returns the reference that keeps the statement's envelope in a repository.
func (s Statement) Ref() string { return Refs + s.Tree() + "/" + s.Commit() }

// ErrCommit means that bytes are no commit as git stores it.
var ErrCommit = errors.New("this is no commit of git")

// ReadCommit returns the id and the tree of a commit, of the bytes that git stores of it. The id is their
// hash, so whoever knows the id needs no trust in those who sent the bytes.
func ReadCommit(raw []byte) (id, tree string, err error) {
	first, _, whole := bytes.Cut(raw, []byte("\n"))
	name, named := bytes.CutPrefix(first, []byte("tree "))
	tree = string(name)
	if !whole || !named || !digest.MatchString(tree) {
		return "", "", fmt.Errorf("%w: it begins with %.60q, want its tree", ErrCommit, raw)
	}
	sum := sha1.New()
	if len(tree) == hex.EncodedLen(sha256.Size) { // a repository has one kind of hash
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "commit %d\x00%s", len(raw), raw)
	return hex.EncodeToString(sum.Sum(nil)), tree, nil
}
