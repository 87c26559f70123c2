package attestation

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Key is a public key that a verifier knows.
type Key struct {
	Public  ed25519.PublicKey
	Revoked bool // nothing that it signed counts any more
}

// The types of PEM blocks. The first two are those of openssl.
const (
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
	revokedBlock = "REVOKED PUBLIC KEY"
)

// ErrKey means that a file has no key of the wanted kind.
var ErrKey = errors.New("want Ed25519 keys in PEM")

// NewKey makes a key. It returns both parts in PEM.
func NewKey() (private, public []byte, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	known, err := x509.MarshalPKIXPublicKey(pub)
	return pem.EncodeToMemory(&pem.Block{Type: privateBlock, Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: known}), err
}

// PublicFile returns the file of the public part of the key in a file.
func PublicFile(file string) string { return file + ".pub" }

// OpenKey reads the private key in a file, or makes it there. PublicFile then has its public part.
func OpenKey(file string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if text, _, err = NewKey(); err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	key, err := ParsePrivate(text)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	return key, os.WriteFile(PublicFile(file), pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: public}), 0o600)
}

// ParsePrivate reads a private key in PEM.
func ParsePrivate(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != privateBlock {
		return nil, fmt.Errorf("%w: no block %s", ErrKey, privateBlock)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	own, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%w: this one is a %T", ErrKey, key)
	}
	return own, nil
}

// ParseKeys reads public keys in PEM, one block each. A key stays known after its rotation. A key whose
// block is a REVOKED PUBLIC KEY is revoked, wherever else it stands.
func ParseKeys(text []byte) (all []Key, err error) {
	revoked := map[string]bool{}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != publicBlock && block.Type != revokedBlock {
			return nil, fmt.Errorf("%w: a block is a %.40s, want %s", ErrKey, block.Type, publicBlock)
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKey, err)
		}
		own, ok := key.(ed25519.PublicKey)
		if !ok {
			return nil, fmt.Errorf("%w: this one is a %T", ErrKey, key)
		}
		all = append(all, Key{Public: own})
		revoked[string(own)] = revoked[string(own)] || block.Type == revokedBlock
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no block %s", ErrKey, publicBlock)
	}
	for i, k := range all {
		all[i].Revoked = revoked[string(k.Public)]
	}
	return all, nil
}

// KeyID returns the id of a key: the SHA-256 of its DER form, as openssl prints it.
func KeyID(key ed25519.PublicKey) string {
	der, _ := x509.MarshalPKIXPublicKey(key) // fails for no Ed25519 key
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
