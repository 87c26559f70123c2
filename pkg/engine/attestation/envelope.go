// Package attestation makes signed statements of a commit from the log, and verifies them without it. A
// statement is an in-toto Statement v1 in a DSSE envelope.
package attestation

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// PayloadType is the type of an in-toto statement in an envelope.
const PayloadType = "application/vnd.in-toto+json"

// Envelope is a DSSE envelope.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // base64
	Signatures  []Signature `json:"signatures"`
}

// Signature is a signature of an envelope. The key id is not signed: it is a hint.
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"` // base64
}

// The reasons to refuse an attestation.
var (
	ErrForm      = errors.New("this is no attestation")
	ErrSignature = errors.New("no given key signed this attestation")
	ErrRevoked   = errors.New("a revoked key signed this attestation")
)

// Sign returns the envelope of a statement, as JSON.
func Sign(s Statement, key ed25519.PrivateKey) ([]byte, error) {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Envelope{PayloadType, base64.StdEncoding.EncodeToString(payload), []Signature{{
		KeyID(key.Public().(ed25519.PublicKey)), base64.StdEncoding.EncodeToString(ed25519.Sign(key, signed(PayloadType, payload))),
	}}})
}

// Verify returns the statement in an envelope that one of the keys signed, and the id of that key. It
// reads the bytes that it verified, and no others.
func Verify(envelope []byte, keys []Key) (s Statement, keyID string, err error) {
	e, payload, err := open(envelope)
	if err != nil {
		return s, "", err
	}
	by, err := e.signer(signed(e.PayloadType, payload), keys)
	if err != nil {
		return s, "", err
	}
	s, err = read(payload)
	return s, by, err
}

// Read returns the statement in an envelope, whoever signed it.
func Read(envelope []byte) (s Statement, err error) {
	_, payload, err := open(envelope)
	if err != nil {
		return s, err
	}
	return read(payload)
}

// open decodes an envelope and its payload.
func open(envelope []byte) (e Envelope, payload []byte, err error) {
	if err := decode(envelope, &e); err != nil {
		return e, nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if e.PayloadType != PayloadType {
		return e, nil, fmt.Errorf("%w: its payload is %.100q, want %s", ErrForm, e.PayloadType, PayloadType)
	}
	if payload, err = unbase64(e.Payload); err != nil {
		return e, nil, fmt.Errorf("%w: its payload: %w", ErrForm, err)
	}
	return e, payload, nil
}

func read(payload []byte) (s Statement, err error) {
	if err := decode(payload, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrForm, err)
	}
	return s, s.check()
}

// signer returns the id of a key that signed the text and is not revoked.
func (e Envelope) signer(text []byte, keys []Key) (string, error) {
	err := ErrSignature
	for _, s := range e.Signatures {
		sig, failed := unbase64(s.Sig)
		if failed != nil {
			continue
		}
		for _, k := range keys {
			if !ed25519.Verify(k.Public, text, sig) {
				continue
			}
			if !k.Revoked {
				return KeyID(k.Public), nil
			}
			err = fmt.Errorf("%w: %s", ErrRevoked, KeyID(k.Public))
		}
	}
	return "", err
}

// signed returns the text that is signed: DSSE's pre-authentication encoding.
func signed(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

// decode decodes one JSON value with nothing behind it.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(into); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%d bytes follow it", len(rest))
	}
	return nil
}

// unbase64 decodes either alphabet of base64, as DSSE wants.
func unbase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "-_") {
		return base64.URLEncoding.DecodeString(s)
	}
	return base64.StdEncoding.DecodeString(s)
}
