package app

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"log/slog"
	"os"
	"strings"
	"sync"
)

// secrets are what deliveries may be signed with.
type secrets struct {
	given string
	file  string
	log   *slog.Logger

	mu   sync.Mutex
	good []string // of the file, as it was last read without an error
}

// errNoSecret means that there is nothing to check signatures with.
var errNoSecret = errors.New("deliveries are taken only with a secret: give --webhook-secret-file, or the variable SIGNALBOX_WEBHOOK_SECRET")

// readAll returns the secrets. It is errNoSecret if there are none.
func (s *secrets) readAll() ([]string, error) {
	var all []string
	if s.file != "" {
		data, err := os.ReadFile(s.file)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			if line := bytes.TrimSpace(line); len(line) > 0 {
				all = append(all, string(line))
			}
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%w: %s is empty", errNoSecret, s.file)
		}
	} else if given := strings.TrimSpace(s.given); given != "" {
		all = []string{given}
	}
	if len(all) == 0 {
		return nil, errNoSecret
	}
	return all, nil
}

// valid returns the secrets. While their file cannot be read they are those it had.
func (s *secrets) valid() []string {
	all, err := s.readAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.log.Warn("the secrets of webhooks cannot be read, those from before stay valid", "error", err)
		return s.good
	}
	s.good = all
	return all
}

// signature decodes the header of a signature.
func signature(header string) (given []byte, ok bool) {
	hexed, ok := strings.CutPrefix(header, "sha256=")
	given, err := hex.DecodeString(hexed)
	return given, ok && err == nil && len(given) == sha256.Size
}

// macs returns what a delivery is written to as it is read, one for each secret.
func (s *secrets) macs() (all []hash.Hash) {
	for _, secret := range s.valid() {
		all = append(all, hmac.New(sha256.New, []byte(secret)))
	}
	return all
}

// signs reports whether the signature is that of one of the secrets. It takes as long
// whichever secret it is.
func signs(macs []hash.Hash, given []byte) bool {
	found := false
	for _, mac := range macs {
		found = hmac.Equal(mac.Sum(nil), given) || found
	}
	return found
}
