package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// sealFlags are the flags of a log that is sealed.
type sealFlags struct {
	File string `name:"seal" env:"-" type:"path" placeholder:"FILE" help:"Seal of the log, kept out of reach of the writers of the store: the sealed part has to be there, unchanged."`
	Key  string `name:"seal-key" env:"-" type:"path" placeholder:"FILE" help:"Seal the log again with this key, if nothing is wrong. It is made if it is not there; only who seals may read it."`
	By   string `name:"sealed-by" env:"-" placeholder:"KEY" help:"Public key that the seal is of, in place of --seal-key."`
}

// seal has the digest of the log up to a sequence. It is signed.
type seal struct {
	Seq       uint64    `json:"seq"`
	Digest    string    `json:"digest"` // of all messages up to Seq
	Time      time.Time `json:"time"`
	Key       string    `json:"key"` // public
	Signature []byte    `json:"signature"`
}

// text is what is signed.
func (s seal) text() []byte {
	return fmt.Appendf(nil, "signalbox seal 1\n%d\n%s\n%s\n%s\n", s.Seq, s.Digest, s.Time.UTC().Format(time.RFC3339Nano), s.Key)
}

// sealing follows a log as it is read, to the place of its seal and to its end. A nil one
// does nothing.
type sealing struct {
	file   string
	before seal // the zero seal if there is none yet
	signer nkeys.KeyPair
	public string

	seq    uint64
	digest [sha256.Size]byte
	found  string // digest at before.Seq
}

// open reads the seal and the key. It returns nil without --seal.
func (f sealFlags) open() (*sealing, error) {
	if f.File == "" {
		if f.Key != "" || f.By != "" {
			return nil, service.Usagef("--seal-key, --sealed-by: say with --seal FILE where the seal is")
		}
		return nil, nil
	}
	s := &sealing{file: f.File, public: f.By}
	switch {
	case (f.Key == "") == (f.By == ""):
		return nil, service.Usagef("--seal %s: want the --seal-key FILE that it is signed with, or --sealed-by KEY", f.File)
	case f.Key != "":
		if err := s.readKey(f.Key); err != nil {
			return nil, service.Usagef("--seal-key: %w", err)
		}
	case !nkeys.IsValidPublicOperatorKey(f.By):
		return nil, service.Usagef("--sealed-by %s: want a public key as --seal-key prints it, which begins with O", f.By)
	}
	text, err := os.ReadFile(f.File)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.signer != nil:
		return s, nil
	case err != nil:
		return nil, service.Usagef("--seal: %w", err)
	}
	if err := json.Unmarshal(text, &s.before); err != nil {
		return nil, fmt.Errorf("the seal %s: %w", f.File, err)
	}
	key, err := nkeys.FromPublicKey(s.public)
	if err == nil {
		err = key.Verify(s.before.text(), s.before.Signature)
	}
	if err != nil || s.before.Key != s.public {
		return nil, fmt.Errorf("the seal %s is not signed with %s: it was changed, or is of another key", f.File, s.public)
	}
	return s, nil
}

// readKey reads the key, or makes it. It is an operator's: NATS has parties sign what the
// server says, so a key that logs in could be had to sign a seal.
func (s *sealing) readKey(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = newSealKey(file)
	}
	if err != nil {
		return err
	}
	if s.signer, err = nkeys.FromSeed(bytes.TrimSpace(text)); err == nil {
		s.public, err = s.signer.PublicKey()
	}
	if err != nil || !nkeys.IsValidPublicOperatorKey(s.public) {
		return fmt.Errorf("%s: want a key of its own, which begins with SO, and not one that logs in", file)
	}
	return nil
}

func newSealKey(file string) (seed []byte, err error) {
	key, err := nkeys.CreateOperator()
	if err != nil {
		return nil, err
	}
	if seed, err = key.Seed(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(f, "%s\n", seed)
	return seed, errors.Join(err, f.Sync(), f.Close())
}

// add takes the next message of the log, and the commit in it unless it is damaged. The
// chain of a commit covers its content, which the other rules check.
func (s *sealing) add(m store.Message, c eventstore.Commit, damaged error) {
	if s == nil {
		return
	}
	s.passed(m.Seq)
	line := fmt.Appendf(s.digest[:], "%d %s\n", m.Seq, c.Chain)
	if damaged != nil || c.Foreign != nil {
		line = fmt.Appendf(s.digest[:], "%d no commit %x %x\n", m.Seq, sha256.Sum256([]byte(m.Subject)), sha256.Sum256(m.Data))
	}
	s.seq, s.digest = m.Seq, sha256.Sum256(line)
}

// passed notes the digest of what was sealed, once the log goes on behind it or ends.
func (s *sealing) passed(next uint64) {
	if s.found == "" && s.before.Seq > 0 && s.seq >= s.before.Seq && next > s.before.Seq {
		s.found = "none"
		if s.seq == s.before.Seq {
			s.found = hex.EncodeToString(s.digest[:])
		}
	}
}

// end returns the violation if the log is not the one that was sealed.
func (s *sealing) end() []logcheck.Violation {
	if s == nil || s.before.Seq == 0 {
		return nil
	}
	s.passed(s.seq + 1)
	at := s.before.Time.Format(time.RFC3339)
	switch s.found {
	case s.before.Digest:
		return nil
	case "":
		return []logcheck.Violation{{Seq: s.before.Seq, Rule: logcheck.Sealed,
			Text: fmt.Sprintf("the log was sealed up to here at %s, and ends at %d", at, s.seq)}}
	}
	return []logcheck.Violation{{Seq: s.before.Seq, Rule: logcheck.Sealed,
		Text: fmt.Sprintf("the log up to here is not the one that was sealed at %s: it was changed since", at)}}
}

// renew writes the seal of the log as it was read, if there is a key.
func (s *sealing) renew(now time.Time) (*view.Seal, error) {
	if s == nil {
		return nil, nil
	}
	shown := &view.Seal{Seq: s.before.Seq, Time: s.before.Time, Key: s.public}
	if s.signer == nil || s.seq == 0 {
		return shown, nil
	}
	next := seal{Seq: s.seq, Digest: hex.EncodeToString(s.digest[:]), Time: now.UTC(), Key: s.public}
	var err error
	if next.Signature, err = s.signer.Sign(next.text()); err != nil {
		return nil, err
	}
	text, err := json.Marshal(next)
	if err != nil {
		return nil, err
	}
	half, err := os.CreateTemp(filepath.Dir(s.file), "."+filepath.Base(s.file)+".*")
	if err != nil {
		return nil, err
	}
	_, err = half.Write(append(text, '\n'))
	if err = errors.Join(err, half.Sync(), half.Close()); err == nil {
		err = os.Rename(half.Name(), s.file)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(half.Name()))
	}
	shown.New = next.Seq
	return shown, nil
}
