// Package seal signs the digest of a log up to a sequence. A seal is kept out of reach of the writers of the log,
// and shows that they wrote no other history.
package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

var (
	// ErrSigned means that the key did not sign the seal.
	ErrSigned = errors.New("it was changed, or is of another key")
	// ErrOther means that a log is not the one that was sealed.
	ErrOther = errors.New("the log is not the one that was sealed")
)

// Seal has the digest of the log up to a sequence. It is signed.
type Seal struct {
	Seq       uint64    `json:"seq"`
	Digest    string    `json:"digest"` // of all messages up to Seq
	Time      time.Time `json:"time"`
	Key       string    `json:"key"` // public
	Signature []byte    `json:"signature"`
}

// text is what is signed.
func (s Seal) text() []byte {
	return fmt.Appendf(nil, "signalbox seal 1\n%d\n%s\n%s\n%s\n", s.Seq, s.Digest, s.Time.UTC().Format(time.RFC3339Nano), s.Key)
}

// Parse reads a seal. It returns ErrSigned unless the key signed it. An empty key stands for the one that the
// seal names: then anybody may have made it.
func Parse(text []byte, public string) (s Seal, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return s, err
	}
	if public == "" {
		public = s.Key
	}
	key, err := nkeys.FromPublicKey(public)
	if err == nil {
		err = key.Verify(s.text(), s.Signature)
	}
	if err != nil || s.Key != public {
		return s, fmt.Errorf("it is not signed with %s: %w", public, ErrSigned)
	}
	return s, nil
}

// Sign returns the seal of a log as far as it was followed, as JSON.
func Sign(f *Follower, now time.Time, key nkeys.KeyPair) (s Seal, text []byte, err error) {
	s = Seal{Seq: f.Seq, Digest: hex.EncodeToString(f.digest[:]), Time: now.UTC()}
	if s.Key, err = key.PublicKey(); err != nil {
		return s, nil, err
	}
	if s.Signature, err = key.Sign(s.text()); err != nil {
		return s, nil, err
	}
	text, err = json.Marshal(s)
	return s, text, err
}

// Follower makes the digest of a log as it is read, and compares it with a seal. The zero Follower has no seal.
type Follower struct {
	Seal   Seal   // the zero seal: none
	Seq    uint64 // newest message
	digest [sha256.Size]byte
	found  string // digest at Seal.Seq
}

// Add takes the next message of the log: the commit in it, or its subject and data if it is none. The chain
// of a commit covers its content.
func (f *Follower) Add(seq uint64, c eventstore.Commit, isCommit bool, subject string, data []byte) {
	f.passed(seq)
	line := fmt.Appendf(f.digest[:], "%d %s\n", seq, c.Chain)
	if !isCommit || c.Foreign != nil {
		line = fmt.Appendf(f.digest[:], "%d no commit %x %x\n", seq, sha256.Sum256([]byte(subject)), sha256.Sum256(data))
	}
	f.Seq, f.digest = seq, sha256.Sum256(line)
}

// passed notes the digest of what was sealed, once the log goes on behind it or ends.
func (f *Follower) passed(next uint64) {
	if f.found == "" && f.Seal.Seq > 0 && f.Seq >= f.Seal.Seq && next > f.Seal.Seq {
		f.found = "none"
		if f.Seq == f.Seal.Seq {
			f.found = hex.EncodeToString(f.digest[:])
		}
	}
}

// End returns ErrOther if the log, read to its end, is not the one that was sealed.
func (f *Follower) End() error {
	if f.Seal.Seq == 0 {
		return nil
	}
	f.passed(f.Seq + 1)
	at := f.Seal.Time.Format(time.RFC3339)
	switch f.found {
	case f.Seal.Digest:
		return nil
	case "":
		return fmt.Errorf("%w at %s: it was sealed up to %d, and ends at %d", ErrOther, at, f.Seal.Seq, f.Seq)
	}
	return fmt.Errorf("%w at %s: it was changed since, at or before %d", ErrOther, at, f.Seal.Seq)
}
