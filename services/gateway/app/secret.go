package app

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// errNoSecret says that there is nothing to check signatures with.
var errNoSecret = errors.New("deliveries are taken only with a secret: give --webhook-secret-file, or the variable SIGNALBOX_WEBHOOK_SECRET")

// read returns the secrets. It is errNoSecret if there are none.
func (s *secrets) read() ([]string, error) {
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

// current returns the secrets. While their file cannot be read they are those it had.
func (s *secrets) current() []string {
	all, err := s.read()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.log.Warn("the secrets of webhooks cannot be read, those from before stay valid", "error", err)
		return s.good
	}
	s.good = all
	return all
}

// signed reports whether the signature is that of one of the secrets. It takes as long
// whichever secret it is.
func (s *secrets) signed(body []byte, signature string) bool {
	hexed, ok := strings.CutPrefix(signature, "sha256=")
	given, err := hex.DecodeString(hexed)
	if !ok || err != nil {
		return false
	}
	found := false
	for _, secret := range s.current() {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		found = hmac.Equal(mac.Sum(nil), given) || found
	}
	return found
}
