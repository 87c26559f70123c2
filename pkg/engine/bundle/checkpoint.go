package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrKey means that a key is not the one of a seal.
var ErrKey = errors.New("want the key of a seal")

// signer is the name of a key in a signed note.
const signer = "signalbox-seal"

// checkpoint is the text that is signed: a checkpoint of C2SP with two lines of ours.
type checkpoint struct {
	origin    string
	size      int64
	root      tlog.Hash
	instances int64
	index     tlog.Hash // root of the tree of instances
	manifest  string    // SHA-256 of manifest.json
}

func origin(identity string) string { return "signalbox log " + identity }

func (c checkpoint) String() string {
	return fmt.Sprintf("%s\n%d\n%s\ninstances %d %s\nmanifest %s\n", c.origin, c.size, c.root, c.instances, c.index, c.manifest)
}

func parseCheckpoint(text string) (c checkpoint, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 6 {
		return c, errors.New("it has not 5 lines")
	}
	c.origin = lines[0]
	var index string
	if _, err = fmt.Sscanf(lines[1]+"\n"+lines[3]+"\n"+lines[4], "%d\ninstances %d %s\nmanifest %s", &c.size, &c.instances, &index, &c.manifest); err != nil {
		return c, err
	}
	if c.root, err = tlog.ParseHash(lines[2]); err == nil {
		c.index, err = tlog.ParseHash(index)
	}
	if err == nil && c.String() != text {
		err = errors.New("it is not as Signalbox writes it")
	}
	return c, err
}

// sign returns the signed note. key is that of a seal.
func (c checkpoint) sign(key nkeys.KeyPair) ([]byte, error) {
	seed, err := key.Seed()
	if err != nil {
		return nil, err
	}
	prefix, raw, err := nkeys.DecodeSeed(seed)
	if err != nil || prefix != nkeys.PrefixByteOperator {
		return nil, ErrKey
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	verifier, err := verifierKey(public)
	if err != nil {
		return nil, err
	}
	id := strings.Split(verifier, "+")[1]
	s, err := note.NewSigner(fmt.Sprintf("PRIVATE+KEY+%s+%s+%s", signer, id, encoded(raw)))
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: c.String()}, s)
}

// verifierKey returns the public key of a seal as signed notes write it.
func verifierKey(public string) (string, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteOperator, []byte(public))
	if err != nil {
		return "", fmt.Errorf("%w, which begins with O: %w", ErrKey, err)
	}
	return note.NewEd25519VerifierKey(signer, raw)
}

// openCheckpoint returns the checkpoint in a note that the key signed.
func openCheckpoint(signed []byte, public string) (c checkpoint, err error) {
	key, err := verifierKey(public)
	if err != nil {
		return c, err
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return c, err
	}
	n, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return c, fmt.Errorf("%w: the checkpoint is not signed with %s: it was changed, or is of another key", ErrBundle, public)
	}
	if c, err = parseCheckpoint(n.Text); err != nil {
		return c, fmt.Errorf("%w: the checkpoint cannot be read: %w", ErrBundle, err)
	}
	return c, nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
