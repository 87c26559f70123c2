package seal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// ErrErasure means that a key did not sign for what an erasure left of a commit.
var ErrErasure = errors.New("its erasure is not signed with this key")

// erasure is what is signed: the chain that a commit had, and the hash of all that is left of it.
func erasure(c eventstore.Commit) []byte {
	return fmt.Appendf(nil, "signalbox erasure 1\n%s\n%s\n", c.Chain, eventstore.NextChain(c.Chain, c))
}

// SignErasure returns the Erased of a commit whose Data has lost texts.
func SignErasure(c eventstore.Commit, key nkeys.KeyPair) (string, error) {
	public, err := key.PublicKey()
	if err != nil {
		return "", err
	}
	signature, err := key.Sign(erasure(c))
	return public + " " + base64.StdEncoding.EncodeToString(signature), err
}

// CheckErasure returns ErrErasure unless the key signed for an erased commit. An empty key stands for the one
// that the commit names: then anybody may have erased its texts, and put others there.
func CheckErasure(c eventstore.Commit, public string) error {
	by, text, _ := strings.Cut(c.Erased, " ")
	if public == "" {
		public = by
	}
	signature, err := base64.StdEncoding.DecodeString(text)
	if err == nil && by == public {
		var key nkeys.KeyPair
		if key, err = nkeys.FromPublicKey(public); err == nil {
			err = key.Verify(erasure(c), signature)
		}
	}
	if err != nil || by != public {
		return fmt.Errorf("%w: %s", ErrErasure, public)
	}
	return nil
}
