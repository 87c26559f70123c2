package engine

import (
	"crypto/sha256"
	"encoding/hex"
)

// digest is a commit's place in the chain of its instance, at half its size; the
// zero digest is that of no commit.
type digest [sha256.Size]byte

// digestOf is the digest of a commit's Chain, which the store has checked.
func digestOf(chain string) (d digest) {
	var text [2 * sha256.Size]byte
	_, _ = hex.Decode(d[:], text[:copy(text[:], chain)])
	return d
}

// chain is what it was made of.
func (d digest) chain() string {
	if d == (digest{}) {
		return ""
	}
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], d[:])
	return string(text[:])
}
