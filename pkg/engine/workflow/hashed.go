package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrFalseHash means that a source is kept under a hash that is not its own: it was
// exchanged, and is not to be used.
var ErrFalseHash = errors.New("it is kept under a false hash")

// CheckHash returns ErrFalseHash unless hash is that of a source, as it is stored.
func CheckHash(hash string, source []byte) error {
	sum := sha256.Sum256(source)
	if is := hex.EncodeToString(sum[:]); is != hash {
		return fmt.Errorf("definition %.70q: %w: its content has %s", hash, ErrFalseHash, is)
	}
	return nil
}

// LoadHashed loads a definition that was stored under its hash, and checks that first.
func LoadHashed(hash string, source []byte) (*Definition, error) {
	if err := CheckHash(hash, source); err != nil {
		return nil, err
	}
	d, err := Load("definition "+hash, source)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	return d, nil
}
