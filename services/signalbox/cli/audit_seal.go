package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
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

// sealing follows a log as it is read, to the place of its seal and to its end. A nil one
// does nothing.
type sealing struct {
	file   string
	signer nkeys.KeyPair // nil: nothing is sealed again
	public string
	seal.Follower
}

// open reads the seal and the key. It returns nil without --seal, unless the key is to sign something else.
func (f sealFlags) open(signs bool) (*sealing, error) {
	s := &sealing{file: f.File, public: f.By}
	if f.File == "" && signs {
		if err := s.readKey(f.Key); err != nil {
			return nil, service.Usagef("--seal-key: %w", err)
		}
		return s, nil
	}
	if f.File == "" {
		if f.Key != "" || f.By != "" {
			return nil, service.Usagef("--seal-key, --sealed-by: say with --seal FILE where the seal is")
		}
		return nil, nil
	}
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
	if s.Seal, err = seal.Parse(text, s.public); err != nil {
		return nil, fmt.Errorf("the seal %s: %w", f.File, err)
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

// add takes the next message of the log, and the commit in it unless it is damaged.
func (s *sealing) add(m store.Message, c eventstore.Commit, damaged error) {
	if s != nil {
		s.Add(m.Seq, c, damaged == nil, m.Subject, m.Data)
	}
}

// end returns the violation if the log is not the one that was sealed.
func (s *sealing) end() []logcheck.Violation {
	if s == nil {
		return nil
	}
	if err := s.End(); err != nil {
		return []logcheck.Violation{{Seq: s.Seal.Seq, Rule: logcheck.Sealed, Text: err.Error()}}
	}
	return nil
}

// renew writes the seal of the log as it was read, if there is a key.
func (s *sealing) renew(now time.Time) (*view.Seal, error) {
	if s == nil || s.file == "" {
		return nil, nil
	}
	shown := &view.Seal{Seq: s.Seal.Seq, Time: s.Seal.Time, Key: s.public}
	if s.signer == nil || s.Seq == 0 {
		return shown, nil
	}
	next, text, err := seal.Sign(&s.Follower, now, s.signer)
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
